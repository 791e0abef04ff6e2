-- The log: every event moves money from one account to another. Account 0 is the bank's own cash, so
-- a deposit comes from it and a withdrawal goes to it. Nothing is ever changed; a mistake is
-- corrected by a transfer back.
CREATE TABLE transfers (
  transfer_id BIGINT NOT NULL,
  debtor BIGINT NOT NULL COMMENT 'account that pays',
  creditor BIGINT NOT NULL COMMENT 'account that receives',
  amount DECIMAL(12, 2) NOT NULL COMMENT 'EUR',
  booked_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR booked_at AS booked_at - INTERVAL '10' MINUTE
)
COMMENT 'Transfers as branches and machines send them; some come twice'
WITH (connector = 'files', path = 'data/transfers', ordering = 'name') FORMAT PLAIN ENCODE JSON;

-- Somebody asks what an account held at a time in the past: an auditor, a court, the holder.
CREATE TABLE inquiries (
  inquiry_id BIGINT NOT NULL,
  account BIGINT NOT NULL,
  balance_of TIMESTAMP WITH TIME ZONE NOT NULL COMMENT 'time that the question is about',
  asked_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR asked_at AS asked_at - INTERVAL '10' MINUTE
)
WITH (connector = 'files', path = 'data/inquiries', ordering = 'name') FORMAT PLAIN ENCODE JSON;
