import type { Generated } from "kysely";
import type { AboutSubject, Int8, Int8Default, Owned } from "./columns.ts";

export interface UsageHourTable extends Owned, AboutSubject {
  hour: Int8;
  transcoded_ms: Int8Default;
}

export interface ViewHourTable extends Owned, AboutSubject {
  playback_id: string;
  hour: Int8;
  device_type: Generated<string>;
  os: Generated<string>;
  browser: Generated<string>;
  country: Generated<string>;
  view_count: Int8Default;
  playtime_ms: Int8Default;
  errors: Int8Default;
  heartbeats: Int8Default;
  players: Int8Default;
  starts: Int8Default;
  ttff_ms: Int8Default;
  playing_ms: Int8Default;
  rebuffering_ms: Int8Default;
}

export interface ViewerCountTable extends Owned, AboutSubject {
  node_id: string;
  playback_id: string;
  device_type: Generated<string>;
  os: Generated<string>;
  browser: Generated<string>;
  country: Generated<string>;
  viewers: number;
  told_at: Int8;
}
