/** The door of the streams' issues. */
export { issueEvents, NO_ISSUES, nextIssues } from "./stream-issues.ts";
