select id from "shop"."dev"."totals" where id is null
