DROP INDEX links_user;
DROP TABLE mails;
