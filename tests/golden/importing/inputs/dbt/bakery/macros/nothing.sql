{% macro nothing() %}{% endmacro %}
