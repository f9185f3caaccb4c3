DROP INDEX reorder_suggestions_item;
