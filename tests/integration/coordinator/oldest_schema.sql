-- Schema version 1, the oldest that migrations start from: a test proves that with all of them it becomes schema.sql.
-- It never changes once a database of that version exists somewhere.

CREATE TABLE schema_state (
  schema_state_id TINYINT UNSIGNED NOT NULL DEFAULT 1,
  schema_version INT UNSIGNED NOT NULL,
  fingerprint BINARY(32) NOT NULL COMMENT 'SHA-256 of the catalogue below',
  catalogue JSON NOT NULL COMMENT 'information_schema as it was after the last apply: names what drifted without DDL rights',
  applied_at DATETIME(6) NOT NULL,
  PRIMARY KEY (schema_state_id) COMMENT 'start-up and readiness read the one row',
  CONSTRAINT schema_state_single_row CHECK (schema_state_id = 1)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Which version of this file the database has, and the fingerprint that it had when applied';

CREATE TABLE policy (
  policy_id TINYINT UNSIGNED NOT NULL DEFAULT 1,
  version INT UNSIGNED NOT NULL,
  digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'SHA-256 of the canonical body, in hex: what answers carry',
  body JSON NOT NULL,
  updated_at DATETIME(6) NOT NULL,
  updated_by VARCHAR(64) NOT NULL,
  PRIMARY KEY (policy_id) COMMENT 'every process reads the one row',
  CONSTRAINT policy_single_row CHECK (policy_id = 1)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'The cluster policy: one versioned row that coordinators serve and workers obey';

CREATE TABLE operators (
  operator_name VARCHAR(64) NOT NULL,
  role ENUM ('operator', 'viewer') NOT NULL,
  created_at DATETIME(6) NOT NULL,
  PRIMARY KEY (operator_name) COMMENT 'a person, looked up by name'
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'People who operate the cluster';

CREATE TABLE signing_keys (
  key_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  role ENUM ('server', 'operator', 'viewer') NOT NULL,
  owner VARCHAR(64) NOT NULL COMMENT 'the server_id for which a server key may act, else the operator name',
  encryption_version SMALLINT UNSIGNED NOT NULL COMMENT 'which key-encryption key sealed the secret',
  secret_nonce BINARY(12) NOT NULL,
  secret_sealed VARBINARY(512) NOT NULL COMMENT 'AES-256-GCM ciphertext and tag',
  created_at DATETIME(6) NOT NULL,
  expires_at DATETIME(6) NULL,
  revoked_at DATETIME(6) NULL,
  PRIMARY KEY (key_id) COMMENT 'every signed request reads its key',
  KEY signing_keys_owner (owner, key_id) COMMENT 'keys list OWNER; finding both keys during a rotation'
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'HMAC keys of servers and operators, sealed at rest';

CREATE TABLE nonces (
  created BIGINT UNSIGNED NOT NULL COMMENT 'the signature''s created parameter, seconds since 1970',
  key_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  nonce VARBINARY(64) NOT NULL,
  PRIMARY KEY (created, key_id, nonce) COMMENT 'refuses a replay; inserts append, clean-up deletes at the front'
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Nonces of accepted signatures inside the window (I10)';

CREATE TABLE partners (
  partner_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  partner_code VARCHAR(64) NOT NULL,
  name VARCHAR(255) NOT NULL,
  created_at DATETIME(6) NOT NULL,
  PRIMARY KEY (partner_id) COMMENT 'a partner by number',
  UNIQUE KEY partners_code (partner_code) COMMENT 'accounts import finds a partner by its code'
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Customers; each has accounts';

CREATE TABLE marketplaces (
  marketplace_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name VARCHAR(255) NOT NULL,
  quota_per_server DECIMAL(4, 2) NOT NULL DEFAULT 1.00,
  yields BOOLEAN NOT NULL DEFAULT TRUE COMMENT 'false where a cursor cannot be resumed',
  paused BOOLEAN NOT NULL DEFAULT FALSE,
  row_version INT UNSIGNED NOT NULL DEFAULT 1,
  PRIMARY KEY (marketplace_code) COMMENT 'locked by acquire while it recounts',
  CONSTRAINT marketplaces_quota_positive CHECK (quota_per_server > 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Sales channels, and how much of the cluster each may use';

CREATE TABLE servers (
  server_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  boot_id BINARY(16) NOT NULL COMMENT 'the current boot: the one that registered last',
  machine_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  hostname VARCHAR(255) NOT NULL,
  version VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  registered_at DATETIME(6) NOT NULL,
  last_heartbeat_at DATETIME(6) NOT NULL,
  draining BOOLEAN NOT NULL DEFAULT FALSE,
  paused BOOLEAN NOT NULL DEFAULT FALSE,
  deregistered_at DATETIME(6) NULL,
  acquire_seq BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'last acquire of this boot; a repeat is answered alike',
  acquired_task_id BIGINT UNSIGNED NULL COMMENT 'what that acquire got; no foreign key, history may be gone',
  acquired_fencing_token BIGINT UNSIGNED NULL,
  row_version INT UNSIGNED NOT NULL DEFAULT 1,
  PRIMARY KEY (server_id) COMMENT 'locked by every call of a server',
  KEY servers_active (deregistered_at, draining, last_heartbeat_at) COMMENT 'N: counting active servers',
  CONSTRAINT servers_acquired_whole CHECK ((acquired_task_id IS NULL) = (acquired_fencing_token IS NULL))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Daemon identities, each with its current boot';

CREATE TABLE server_marketplaces (
  server_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  marketplace_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  cursor_format VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'connector and version whose cursors the boot speaks',
  PRIMARY KEY (server_id, marketplace_code) COMMENT 'what a server may acquire; parent of a slot''s capability',
  KEY server_marketplaces_marketplace (marketplace_code) COMMENT 'foreign key to marketplaces',
  CONSTRAINT server_marketplaces_server FOREIGN KEY (server_id) REFERENCES servers (server_id),
  CONSTRAINT server_marketplaces_marketplace FOREIGN KEY (marketplace_code) REFERENCES marketplaces (marketplace_code)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Capability: the marketplaces that the current boot registered that it can crawl';

CREATE TABLE accounts (
  account_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  partner_id BIGINT UNSIGNED NOT NULL,
  marketplace_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  account_ref VARCHAR(128) NOT NULL COMMENT 'the seller''s identity at the marketplace',
  settings JSON NOT NULL COMMENT 'what the connector needs to know besides credentials; nothing secret',
  refresh_interval_seconds INT UNSIGNED NOT NULL DEFAULT 86400,
  size INT UNSIGNED NULL COMMENT 'records of the last completed crawl; NULL until there was one',
  next_due_at DATETIME(6) NOT NULL,
  crawl_no INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'completed crawls; the one under way has the next number',
  consecutive_failures SMALLINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'failed tasks since the last completed one: doubles the cool-down',
  last_completed_at DATETIME(6) NULL,
  paused BOOLEAN NOT NULL DEFAULT FALSE,
  suspended_at DATETIME(6) NULL COMMENT 'since when its credentials are known to be bad',
  created_at DATETIME(6) NOT NULL,
  row_version INT UNSIGNED NOT NULL DEFAULT 1,
  PRIMARY KEY (account_id) COMMENT 'an account by number',
  UNIQUE KEY accounts_identity (partner_id, marketplace_code, account_ref) COMMENT 'importing twice makes no second account',
  UNIQUE KEY accounts_marketplace (account_id, marketplace_code) COMMENT 'parent of tasks and listings: their check locks this entry, not the row',
  KEY accounts_due (next_due_at, account_id) COMMENT 'planning: candidates in due order',
  KEY accounts_of_marketplace (marketplace_code, account_id) COMMENT 'foreign key to marketplaces; accounts list by marketplace',
  CONSTRAINT accounts_refresh_positive CHECK (refresh_interval_seconds > 0),
  CONSTRAINT accounts_partner FOREIGN KEY (partner_id) REFERENCES partners (partner_id),
  CONSTRAINT accounts_marketplace FOREIGN KEY (marketplace_code) REFERENCES marketplaces (marketplace_code)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Seller accounts: the unit that is crawled';

CREATE TABLE account_credentials (
  account_id BIGINT UNSIGNED NOT NULL,
  version INT UNSIGNED NOT NULL COMMENT 'grows with each change; a worker rotates by compare-and-set on it',
  encryption_version SMALLINT UNSIGNED NOT NULL,
  secret_nonce BINARY(12) NOT NULL,
  secret_sealed VARBINARY(16384) NOT NULL COMMENT 'AES-256-GCM over the JSON object, bound to its account',
  updated_at DATETIME(6) NOT NULL,
  PRIMARY KEY (account_id) COMMENT 'acquire hands out the account''s credentials',
  CONSTRAINT account_credentials_account FOREIGN KEY (account_id) REFERENCES accounts (account_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Marketplace credentials, sealed at rest';

CREATE TABLE leadership (
  leadership_id TINYINT UNSIGNED NOT NULL DEFAULT 1,
  fencing_token BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'the last election''s; only grows (I1)',
  leader_server_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'no foreign key: an election must not lock the leader''s server row',
  leader_boot_id BINARY(16) NULL,
  renewed_at DATETIME(6) NULL,
  lease_expires_at DATETIME(6) NULL,
  PRIMARY KEY (leadership_id) COMMENT 'locked by elections, shared by every leader''s write (I2)',
  CONSTRAINT leadership_single_row CHECK (leadership_id = 1),
  CONSTRAINT leadership_whole CHECK (
    (leader_server_id IS NULL AND leader_boot_id IS NULL AND renewed_at IS NULL AND lease_expires_at IS NULL)
    OR (leader_server_id IS NOT NULL AND leader_boot_id IS NOT NULL AND renewed_at IS NOT NULL
        AND lease_expires_at IS NOT NULL AND renewed_at < lease_expires_at AND fencing_token > 0))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'The cluster''s single lease';

INSERT INTO leadership (leadership_id) VALUES (1);

CREATE TABLE leadership_terms (
  fencing_token BIGINT UNSIGNED NOT NULL,
  server_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  boot_id BINARY(16) NOT NULL,
  elected_at DATETIME(6) NOT NULL,
  ended_at DATETIME(6) NULL COMMENT 'last instant at which a write of the term can have been accepted',
  end_reason ENUM ('resigned', 'deregistered', 'superseded') NULL,
  PRIMARY KEY (fencing_token) COMMENT 'one row per election; a token is never given twice (I1)',
  KEY leadership_terms_elected (elected_at) COMMENT 'housekeeping: terms past their retention',
  CONSTRAINT leadership_terms_end_whole CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
  CONSTRAINT leadership_terms_forward CHECK (ended_at IS NULL OR ended_at >= elected_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Every tenure that there was';

CREATE TABLE plans (
  plan_id BINARY(16) NOT NULL,
  fencing_token BIGINT UNSIGNED NOT NULL,
  body_digest BINARY(32) NOT NULL COMMENT 'SHA-256 of what was planned; the same id with other content is refused',
  created_count INT UNSIGNED NOT NULL,
  skipped_count INT UNSIGNED NOT NULL,
  planned_at DATETIME(6) NOT NULL,
  PRIMARY KEY (plan_id) COMMENT 'a repeated plan is answered as before',
  KEY plans_planned (planned_at) COMMENT 'housekeeping: plans past their retention',
  KEY plans_term (fencing_token) COMMENT 'foreign key to the term',
  CONSTRAINT plans_term FOREIGN KEY (fencing_token) REFERENCES leadership_terms (fencing_token)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Accepted plans and their answers';

CREATE TABLE server_slots (
  server_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  slot_no TINYINT UNSIGNED NOT NULL,
  task_id BIGINT UNSIGNED NULL,
  marketplace_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  size_class ENUM ('small', 'large', 'probe') NULL,
  PRIMARY KEY (server_id, slot_no) COMMENT 'a server''s slots in order',
  UNIQUE KEY server_slots_task (task_id) COMMENT 'a task sits in one slot (I4)',
  UNIQUE KEY server_slots_marketplace (server_id, marketplace_code) COMMENT 'one task per marketplace on a server (I4)',
  UNIQUE KEY server_slots_seat (task_id, server_id, marketplace_code) COMMENT 'parent of a running task''s seat',
  KEY server_slots_count (marketplace_code, size_class) COMMENT 'counting what runs against quota and large cap (I5)',
  CONSTRAINT server_slots_whole CHECK (
    (task_id IS NULL) = (marketplace_code IS NULL) AND (task_id IS NULL) = (size_class IS NULL)),
  CONSTRAINT server_slots_server FOREIGN KEY (server_id) REFERENCES servers (server_id),
  CONSTRAINT server_slots_capability FOREIGN KEY (server_id, marketplace_code)
    REFERENCES server_marketplaces (server_id, marketplace_code)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'A server''s places for running tasks';

CREATE TABLE crawl_tasks (
  task_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  account_id BIGINT UNSIGNED NOT NULL,
  marketplace_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  crawl_no INT UNSIGNED NOT NULL COMMENT 'the account''s crawl that this task is; listings seen by it carry it',
  state ENUM ('queued', 'delayed', 'held', 'running', 'completed', 'failed', 'cancelled') NOT NULL,
  size_class ENUM ('small', 'large', 'probe') NOT NULL,
  size INT UNSIGNED NULL COMMENT 'the size that the key was computed from; NULL for a probe',
  due_at DATETIME(6) NOT NULL,
  dispatch_key DATETIME(6) NOT NULL COMMENT 'due_at + theta * log2(size / 20): smaller runs first',
  eligible_at DATETIME(6) NULL COMMENT 'a delayed task wakes then; a held one may keep it',
  server_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'the owner while running, the last one once ended',
  boot_id BINARY(16) NULL,
  fencing_token BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'plus one at each acquisition',
  acquired_at DATETIME(6) NULL,
  acquired_page INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'current_page at the acquisition: yielding waits for five more',
  lease_expires_at DATETIME(6) NULL,
  epoch INT UNSIGNED NOT NULL DEFAULT 1,
  cursor_format VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'connector and version that wrote the cursor',
  last_batch_no INT UNSIGNED NOT NULL DEFAULT 0,
  current_page INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'resume checkpoint: pages durable in this epoch',
  last_cursor_token VARCHAR(4096) NULL,
  processed_count INT UNSIGNED NOT NULL DEFAULT 0,
  total_discovered_count INT UNSIGNED NULL,
  progress_page INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'what heartbeats claim; may be ahead of what is durable',
  progress_cursor_token VARCHAR(4096) NULL,
  progress_processed_count INT UNSIGNED NOT NULL DEFAULT 0,
  progress_total_count INT UNSIGNED NULL,
  progress_at DATETIME(6) NULL COMMENT 'when the owner last completed a page; its lease is not extended long after',
  attempts SMALLINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'consecutive ends without a newly applied batch',
  enumeration ENUM ('proven', 'guessed') NOT NULL DEFAULT 'proven',
  cancel_requested BOOLEAN NOT NULL DEFAULT FALSE,
  yield_requested BOOLEAN NOT NULL DEFAULT FALSE,
  completion_digest BINARY(32) NULL COMMENT 'of the accepted completion: the same again is answered alike (I9)',
  error_code VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  error_message VARCHAR(1024) NULL,
  created_at DATETIME(6) NOT NULL,
  ended_at DATETIME(6) NULL,
  active_account_id BIGINT UNSIGNED GENERATED ALWAYS AS
    (IF(state IN ('queued', 'delayed', 'held', 'running'), account_id, NULL)) VIRTUAL,
  running_server_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin GENERATED ALWAYS AS
    (IF(state = 'running', server_id, NULL)) STORED,
  PRIMARY KEY (task_id) COMMENT 'every owner''s write locks its task',
  UNIQUE KEY crawl_tasks_active (active_account_id) COMMENT 'one active task per account (I3)',
  KEY crawl_tasks_dispatch (state, marketplace_code, size_class, dispatch_key, task_id) COMMENT 'acquire: the best waiting task of a group, without a sort',
  KEY crawl_tasks_lease (state, lease_expires_at) COMMENT 'recovery: running tasks whose lease has ended',
  KEY crawl_tasks_wake (state, eligible_at) COMMENT 'recovery: delayed tasks that are due',
  KEY crawl_tasks_account (account_id, marketplace_code, task_id) COMMENT 'foreign key to accounts; an account''s history',
  KEY crawl_tasks_seat (task_id, running_server_id, marketplace_code) COMMENT 'foreign key to the slot',
  KEY crawl_tasks_ended (ended_at, task_id) COMMENT 'housekeeping: ended tasks past their retention',
  CONSTRAINT crawl_tasks_running_whole CHECK (
    state <> 'running' OR (server_id IS NOT NULL AND boot_id IS NOT NULL AND acquired_at IS NOT NULL
                           AND progress_at IS NOT NULL AND fencing_token > 0)),
  CONSTRAINT crawl_tasks_lease_while_running CHECK ((state = 'running') = (lease_expires_at IS NOT NULL)),
  CONSTRAINT crawl_tasks_no_owner_waiting CHECK (state NOT IN ('queued', 'delayed', 'held') OR server_id IS NULL),
  CONSTRAINT crawl_tasks_delayed_until CHECK (
    (state <> 'delayed' OR eligible_at IS NOT NULL) AND (state IN ('delayed', 'held') OR eligible_at IS NULL)),
  CONSTRAINT crawl_tasks_ended_whole CHECK ((state IN ('completed', 'failed', 'cancelled')) = (ended_at IS NOT NULL)),
  CONSTRAINT crawl_tasks_completion_whole CHECK ((state = 'completed') = (completion_digest IS NOT NULL)),
  CONSTRAINT crawl_tasks_account FOREIGN KEY (account_id, marketplace_code)
    REFERENCES accounts (account_id, marketplace_code),
  CONSTRAINT crawl_tasks_seat FOREIGN KEY (task_id, running_server_id, marketplace_code)
    REFERENCES server_slots (task_id, server_id, marketplace_code)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Crawls of accounts, waiting, running and ended; a running one without its slot cannot exist';

ALTER TABLE server_slots
  ADD CONSTRAINT server_slots_task FOREIGN KEY (task_id) REFERENCES crawl_tasks (task_id);

CREATE TABLE task_claims (
  task_id BIGINT UNSIGNED NOT NULL,
  fencing_token BIGINT UNSIGNED NOT NULL,
  server_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  boot_id BINARY(16) NOT NULL,
  marketplace_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  size_class ENUM ('small', 'large', 'probe') NOT NULL,
  active_servers INT UNSIGNED NOT NULL COMMENT 'N as it was counted',
  quota INT UNSIGNED NOT NULL,
  running_count INT UNSIGNED NOT NULL COMMENT 'tasks of the marketplace running, this one included',
  large_cap INT UNSIGNED NOT NULL,
  large_count INT UNSIGNED NOT NULL COMMENT 'large tasks of the marketplace running, this one included',
  soft BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'the large cap was exceeded by the soft rule',
  claimed_at DATETIME(6) NOT NULL,
  PRIMARY KEY (task_id, fencing_token) COMMENT 'one row per acquisition or reclassification''s token',
  CONSTRAINT task_claims_within_quota CHECK (running_count <= quota),
  CONSTRAINT task_claims_within_cap CHECK (soft OR size_class <> 'large' OR large_count <= large_cap),
  CONSTRAINT task_claims_task FOREIGN KEY (task_id) REFERENCES crawl_tasks (task_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'What each claim saw: the audit of quota and large cap (I5)';

CREATE TABLE task_batches (
  task_id BIGINT UNSIGNED NOT NULL,
  batch_no INT UNSIGNED NOT NULL COMMENT 'runs on across acquisitions and epochs',
  epoch INT UNSIGNED NOT NULL,
  fencing_token BIGINT UNSIGNED NOT NULL,
  body_digest BINARY(32) NOT NULL COMMENT 'SHA-256 of the raw body: a retry sends identical bytes',
  answer JSON NOT NULL,
  applied_at DATETIME(6) NOT NULL,
  PRIMARY KEY (task_id, batch_no) COMMENT 'a batch takes effect once (I8)',
  CONSTRAINT task_batches_from_one CHECK (batch_no > 0),
  CONSTRAINT task_batches_task FOREIGN KEY (task_id) REFERENCES crawl_tasks (task_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Ledger of applied batches';

CREATE TABLE listings (
  account_id BIGINT UNSIGNED NOT NULL,
  listing_ref VARCHAR(191) NOT NULL COMMENT 'the marketplace''s identity of the sellable unit',
  marketplace_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  parent_ref VARCHAR(191) NULL COMMENT 'the product that a variant belongs to',
  title VARCHAR(512) NOT NULL,
  title_cut BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'the marketplace''s title was longer',
  sku VARCHAR(191) NULL,
  barcode VARCHAR(191) NULL,
  price DECIMAL(18, 4) NULL,
  list_price DECIMAL(18, 4) NULL,
  currency CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NULL,
  quantity BIGINT NULL,
  status ENUM ('active', 'inactive') NOT NULL,
  attributes JSON NOT NULL,
  content_hash BINARY(33) NOT NULL COMMENT 'recipe version in the first byte, then SHA-256: unchanged ones are only marked as seen',
  first_seen_at DATETIME(6) NOT NULL,
  changed_at DATETIME(6) NOT NULL,
  last_seen_crawl_no INT UNSIGNED NOT NULL,
  delisted_at DATETIME(6) NULL,
  task_id BIGINT UNSIGNED NOT NULL COMMENT 'who wrote last, with which token and batch',
  fencing_token BIGINT UNSIGNED NOT NULL,
  batch_no INT UNSIGNED NOT NULL,
  PRIMARY KEY (account_id, listing_ref) COMMENT 'a flush touches its rows in this order; an account''s catalogue',
  KEY listings_marketplace (account_id, marketplace_code) COMMENT 'foreign key to accounts',
  CONSTRAINT listings_account FOREIGN KEY (account_id, marketplace_code)
    REFERENCES accounts (account_id, marketplace_code)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'What the marketplaces sell, as last seen';

CREATE TABLE listing_rejects (
  reject_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  account_id BIGINT UNSIGNED NOT NULL,
  task_id BIGINT UNSIGNED NOT NULL,
  batch_no INT UNSIGNED NOT NULL,
  record_ref VARCHAR(191) NULL COMMENT 'its identity, where one could be read',
  reason VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  detail VARCHAR(512) NOT NULL,
  recorded_at DATETIME(6) NOT NULL,
  PRIMARY KEY (reject_id) COMMENT 'rejects in the order they came',
  KEY listing_rejects_task (task_id, reject_id) COMMENT 'a task''s rejects',
  KEY listing_rejects_recorded (recorded_at) COMMENT 'housekeeping: rejects past their retention',
  CONSTRAINT listing_rejects_task FOREIGN KEY (task_id) REFERENCES crawl_tasks (task_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Records that could not be normalised, with the reason';

CREATE TABLE listing_changes (
  change_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  feed_position BIGINT UNSIGNED NULL COMMENT 'given after commit, in order; NULL until then',
  account_id BIGINT UNSIGNED NOT NULL,
  listing_ref VARCHAR(191) NOT NULL,
  kind ENUM ('appeared', 'changed', 'delisted') NOT NULL,
  task_id BIGINT UNSIGNED NULL,
  batch_no INT UNSIGNED NULL,
  old JSON NULL,
  new JSON NULL,
  recorded_at DATETIME(6) NOT NULL,
  PRIMARY KEY (change_id) COMMENT 'changes in the order they were written',
  UNIQUE KEY listing_changes_feed (feed_position) COMMENT 'a consumer reads on from its position; unplaced ones stand together at NULL',
  KEY listing_changes_recorded (recorded_at) COMMENT 'housekeeping: changes past their retention'
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'What appeared, changed and was delisted';

CREATE TABLE task_events (
  event_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  task_id BIGINT UNSIGNED NULL COMMENT 'NULL for an event of a server or of the leadership; no foreign key, events outlive tasks',
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  server_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  fencing_token BIGINT UNSIGNED NULL,
  detail JSON NOT NULL,
  recorded_at DATETIME(6) NOT NULL,
  PRIMARY KEY (event_id) COMMENT 'events in the order they were written',
  KEY task_events_task (task_id, event_id) COMMENT 'what happened to a task',
  KEY task_events_recorded (recorded_at) COMMENT 'housekeeping: events past their retention'
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'What happened, for the people who ask why';

CREATE TABLE audit_log (
  audit_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  actor VARCHAR(64) NOT NULL COMMENT 'operator name, key id, or the program and user that ran it',
  action VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject VARCHAR(128) NOT NULL,
  detail JSON NOT NULL COMMENT 'before and after; nothing secret',
  request_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  recorded_at DATETIME(6) NOT NULL,
  PRIMARY KEY (audit_id) COMMENT 'entries in the order they were written',
  KEY audit_log_recorded (recorded_at) COMMENT 'the audit by time; entries past their retention'
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Who did what; append-only for the application''s user';

CREATE TABLE server_samples (
  server_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  sampled_at DATETIME(6) NOT NULL,
  boot_id BINARY(16) NOT NULL,
  cpu_percent DECIMAL(6, 2) NOT NULL,
  rss_bytes BIGINT UNSIGNED NOT NULL,
  running_tasks TINYINT UNSIGNED NOT NULL,
  PRIMARY KEY (server_id, sampled_at) COMMENT 'a server''s samples in time',
  KEY server_samples_sampled (sampled_at) COMMENT 'housekeeping: samples past their retention',
  CONSTRAINT server_samples_server FOREIGN KEY (server_id) REFERENCES servers (server_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_bin
  COMMENT 'Telemetry of the daemons';
