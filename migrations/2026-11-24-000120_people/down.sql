DROP TABLE links;
DROP TABLE sessions;
DROP TABLE memberships;
DROP TABLE people;
