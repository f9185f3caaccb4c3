DROP TABLE job_requests;
DROP TABLE upload_pieces;
DROP TABLE uploads;
