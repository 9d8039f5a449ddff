import type { Access } from "@weir/contract";
import type { Generated } from "kysely";
import type { Bool, Int8, Int8OrNull, JsonOrNull, Owned, TextOrNull } from "./columns.ts";

export interface AccountTable {
  id: string;
  name: string;
  suspended: Bool;
  created_at: Int8;
}

export interface ProjectTable {
  id: string;
  user_id: string;
  name: string;
  originals_for_keys_only: Generated<boolean>;
  created_at: Int8;
  deleted_at: Int8OrNull;
}

export interface ApiKeyTable extends Owned {
  id: string;
  name: string;
  prefix: string;
  hash: Buffer;
  access: JsonOrNull<Access>;
  /** May sign in to all projects of its account. */
  account_wide: Generated<boolean>;
  created_at: Int8;
  last_used_at: Int8OrNull;
}

export interface IdempotentRequestTable extends Owned {
  api_key_id: string;
  key: string;
  fingerprint: Buffer;
  created_at: Int8;
  status: number | null;
  body: string | null;
}

export interface PersonTable {
  id: string;
  user_id: string;
  name: string;
  password_hash: string;
  created_at: Int8;
  last_seen: Int8OrNull;
}

/** Of a key or of a person. */
export interface DashboardSessionTable extends Owned {
  hash: Buffer;
  api_key_id: TextOrNull;
  person_id: TextOrNull;
  created_at: Int8;
  expires_at: Int8;
}

export interface SigningKeyTable extends Owned {
  id: string;
  name: string;
  public_key: string;
  disabled: Bool;
  created_at: Int8;
  last_seen: Int8OrNull;
}
