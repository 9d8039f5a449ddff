import type { SegmentTranscoded, SourceMetrics } from "../../ports/index.ts";
import type { NewEvent } from "../events/index.ts";
import type { IssueCode, OpenIssue, StreamIssues } from "../open-issue.ts";
import type { Owner } from "../schema.ts";
import { streamSubject } from "../subject.ts";
import { metricsRules, type Rules, segmentRules } from "./issue-rules.ts";

/** A transcoder issue closes after this many good segments in a row. */
const WELL_SEGMENTS = 3;

export const NO_ISSUES: StreamIssues = { open: [], wellSegments: 0 };

/**
 * The open issues of a live stream after one more fact. Each code is open at most once, and keeps the wording it was opened with. Returns the
 * same object if nothing changed.
 */
export function nextIssues(issues: StreamIssues, fact: SourceMetrics | SegmentTranscoded): StreamIssues {
  if (fact.type === "source-metrics") {
    const open = judge(issues.open, metricsRules, fact);
    return open === issues.open ? issues : { ...issues, open };
  }
  const opened = judge(issues.open, segmentRules, fact, false);
  const isWell = Object.values(segmentRules).every((rule) => rule(fact) === "well");
  const isWaitedFor = opened.some(({ code }) => code in segmentRules);
  const wellSegments = isWell && isWaitedFor ? issues.wellSegments + 1 : 0;
  if (opened === issues.open && wellSegments === issues.wellSegments) return issues;
  if (wellSegments < WELL_SEGMENTS) return { open: opened, wellSegments };
  return { open: judge(opened, segmentRules, fact), wellSegments: 0 };
}

/** The events of a change from one state to the other; `stream` is their subject. */
export function issueEvents(
  stream: { readonly id: string; readonly owner: Owner },
  before: StreamIssues,
  after: StreamIssues,
  at: number,
): NewEvent[] {
  const tell = ({ code, sentence, evidence, remedy }: OpenIssue, state: "opened" | "closed"): NewEvent => ({
    subject: streamSubject(stream.id),
    owner: stream.owner,
    at,
    kind: "lifecycle",
    body: { type: "stream_issue", code, sentence, evidence, remedy, state },
  });
  const isIn = ({ open }: StreamIssues, { code }: OpenIssue) => open.some((other) => other.code === code);
  return [
    ...before.open.filter((issue) => !isIn(after, issue)).map((issue) => tell(issue, "closed")),
    ...after.open.filter((issue) => !isIn(before, issue)).map((issue) => tell(issue, "opened")),
  ];
}

/** Close the issues that a rule reports as well, where they may close now, and open the ones it finds. */
function judge<Fact extends SourceMetrics | SegmentTranscoded>(
  open: readonly OpenIssue[],
  rules: Rules<Fact>,
  fact: Fact,
  mayClose = true,
): readonly OpenIssue[] {
  let next = open;
  for (const [code, rule] of Object.entries(rules) as [IssueCode, Rules<Fact>[IssueCode]][]) {
    const verdict = rule?.(fact) ?? "as-is";
    const isOpen = open.some((issue) => issue.code === code);
    if (verdict === "well") {
      if (isOpen && mayClose) next = next.filter((issue) => issue.code !== code);
    } else if (verdict !== "as-is" && !isOpen) next = [...next, { code, ...verdict, since: fact.at }];
  }
  return next;
}
