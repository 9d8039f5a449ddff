import type { Generated } from "kysely";
import type { Int8, Int8Default, TextOrNull } from "./columns.ts";

export interface NodeTable {
  id: string;
  name: string;
  region: string;
  roles: string[];
  state: "joining" | "serving" | "draining" | "gone";
  epoch: Int8Default;
  joined_at: Generated<Date>;
  seen_at: Generated<Date>;
  start_id: TextOrNull;
  place: TextOrNull;
  address: TextOrNull;
  schema_level: number | null;
  build: TextOrNull;
}

export interface PublicAddressTable {
  id: number;
  used: string | null;
  pinned: string | null;
}

export interface WrittenBatchTable {
  writer: string;
  number: Int8;
  written_at: Int8;
}

export interface ServerSecretTable {
  name: string;
  secret: Buffer;
  created_at: Int8;
}
