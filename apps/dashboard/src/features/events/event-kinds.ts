/** `notable` is everything that is no measurement. */
export const EVENT_KINDS = ["notable", "fatal", "all"] as const;
export type EventKind = (typeof EVENT_KINDS)[number];
