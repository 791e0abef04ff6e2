-- The distance on the globe (haversine); every engine runs the expression in place of the call.
CREATE FUNCTION kilometres(latitude_1 DOUBLE, longitude_1 DOUBLE, latitude_2 DOUBLE, longitude_2 DOUBLE)
RETURNS DOUBLE
RETURN 12742 * asin(sqrt(
  power(sin(radians(latitude_2 - latitude_1) / 2), 2)
  + cos(radians(latitude_1)) * cos(radians(latitude_2))
    * power(sin(radians(longitude_2 - longitude_1) / 2), 2)
));
