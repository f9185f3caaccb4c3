DROP TABLE price_offers;
DROP TABLE payment_owners;
