import type { SegmentTranscoded, SourceMetrics } from "../../ports/index.ts";
import { type NewEvent, streamEvent } from "../events/index.ts";
import type { IssueCode, OpenIssue, StreamIssues } from "../open-issue.ts";
import type { Owner } from "../schema.ts";
import { metricsRules, type Rules, segmentRules, type Verdict } from "./issue-rules.ts";

/** A transcoder issue closes after this many good segments in a row. */
const WELL_SEGMENTS = 3;
/**
 * Those about the ladder, of which one is open at a time: the first of them that is there. A machine that is too slow stays the diagnosis when a
 * child of it dies.
 */
const OF_THE_LADDER: readonly IssueCode[] = [
  "admission-refused",
  "unsupported-source",
  "transcoder-behind",
  "transcoder-failed",
];

export const NO_ISSUES: StreamIssues = { open: [], wellSegments: 0 };

/**
 * The open issues of a live stream after one more fact. Each code is open at most once. An issue of the ladder says what is so now; any other keeps
 * the words that it was opened with. Returns the same object if nothing changed.
 */
export function nextIssues(issues: StreamIssues, fact: SourceMetrics | SegmentTranscoded): StreamIssues {
  if (fact.type === "source-metrics") {
    const open = judge(issues.open, metricsRules, fact);
    return open === issues.open ? issues : { ...issues, open };
  }
  const opened = judge(issues.open, segmentRules, fact, false);
  const isWell = Object.values(segmentRules).every((rule) => isGood(rule(fact)));
  const isWaitedFor = opened.some(({ code }) => code in segmentRules);
  const wellSegments = isWell && isWaitedFor ? Math.min(issues.wellSegments + 1, WELL_SEGMENTS) : 0;
  if (opened === issues.open && wellSegments === issues.wellSegments && wellSegments < WELL_SEGMENTS) return issues;
  if (wellSegments < WELL_SEGMENTS) return { open: opened, wellSegments };
  const open = judge(opened, segmentRules, fact);
  if (open !== opened) return { open, wellSegments: 0 };
  return open === issues.open && wellSegments === issues.wellSegments ? issues : { open, wellSegments };
}

/** The events of a change from one state to the other; `stream` is their subject. */
export function issueEvents(
  stream: { readonly id: string; readonly owner: Owner },
  before: StreamIssues,
  after: StreamIssues,
  at: number,
): NewEvent[] {
  const tell = ({ code, sentence, evidence, remedy }: OpenIssue, state: "opened" | "closed"): NewEvent =>
    streamEvent(stream, at, "lifecycle", { type: "stream_issue", code, sentence, evidence, remedy, state });
  const isIn = ({ open }: StreamIssues, { code }: OpenIssue) => open.some((other) => other.code === code);
  return [
    ...before.open.filter((issue) => !isIn(after, issue)).map((issue) => tell(issue, "closed")),
    ...after.open.filter((issue) => !isIn(before, issue)).map((issue) => tell(issue, "opened")),
  ];
}

function isGood(verdict: Verdict): boolean {
  return verdict === "well" || verdict === "better";
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
    const known = next.find((issue) => issue.code === code);
    if (verdict === "well") {
      if (known && mayClose) next = next.filter((issue) => issue !== known);
    } else if (verdict === "as-is" || verdict === "better") continue;
    else if (!known) next = [...next, { code, ...verdict, since: fact.at }];
    else if (OF_THE_LADDER.includes(code) && known.sentence !== verdict.sentence)
      next = next.map((issue) => (issue === known ? { ...known, ...verdict } : issue));
  }
  return withOneOfTheLadder(next);
}

function withOneOfTheLadder(open: readonly OpenIssue[]): readonly OpenIssue[] {
  const [first, ...others] = OF_THE_LADDER.filter((code) => open.some((issue) => issue.code === code));
  return first === undefined || others.length === 0 ? open : open.filter(({ code }) => !others.includes(code));
}
