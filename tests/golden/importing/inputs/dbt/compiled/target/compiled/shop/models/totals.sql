select id, sum(amount) as amount from "shop"."raw"."orders_v3" group by id
