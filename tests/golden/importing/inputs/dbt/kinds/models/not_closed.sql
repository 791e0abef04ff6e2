select id {% if is_incremental() %} from x
