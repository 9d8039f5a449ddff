import type { JSONColumnType } from "kysely";
import type { AboutSubject, Int8, Int8Default, Owned } from "./columns.ts";

export interface EventSequenceTable extends AboutSubject {
  seq: Int8Default;
}

export interface EventTable extends Owned, AboutSubject {
  seq: Int8;
  at: Int8;
  type: string;
  v: number;
  data: JSONColumnType<Record<string, unknown>>;
}
