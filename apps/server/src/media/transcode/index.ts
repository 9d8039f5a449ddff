export type { ChildEnd, RunningChild } from "./media-child.ts";
export { type TestBroadcastJob, TestBroadcasts, TooManyTestBroadcasts } from "./test-broadcast.ts";
