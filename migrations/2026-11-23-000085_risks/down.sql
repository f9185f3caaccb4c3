DROP TABLE risks;
