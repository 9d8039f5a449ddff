/** What a run of the campaign was asked for, by `tools/campaign.ts`. */
const { env } = process;

export const SEED = Number(env.CAMPAIGN_SEED ?? 1);
export const MINUTES = Number(env.CAMPAIGN_MINUTES ?? 10);
/** The numbers of the faults that are made; all others are left out. */
export const ONLY = env.CAMPAIGN_ONLY?.split(",").map(Number);
/** The names of the faults that are chosen from; by default all. */
export const KINDS = env.CAMPAIGN_KINDS?.split(",");
/** The repository whose server is attacked. */
export const ROOT = env.CAMPAIGN_ROOT;
export const MEDIA_PROCESSES = Number(env.CAMPAIGN_PROCESSES ?? 1);
/** A commit whose server begins, and is upgraded. */
export const FROM = env.CAMPAIGN_FROM;
/** The name of a fault that is planted into a copy of the server. */
export const PLANT = env.CAMPAIGN_PLANT;
/** A file for what the run found, as JSON. */
export const FOUND = env.CAMPAIGN_FOUND;
/** Which part of the soak's counts is run; 0: none. */
export const SOAK = Number(env.CAMPAIGN_SOAK ?? 0);
