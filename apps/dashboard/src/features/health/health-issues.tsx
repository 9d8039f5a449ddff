import type { OpenIssue, Stream } from "@weir/contract";
import { Moment } from "../../shared/components/moment.tsx";
import { Note } from "../../shared/components/note.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { strings } from "../../shared/strings.ts";
import classes from "./health-issues.module.css";
import { issuesOf } from "./health-standing.ts";

const text = strings.health;

/** The open issues, each with its begin, its measurement and its fix. */
export function HealthIssues({ stream }: { readonly stream: Stream }) {
  const issues = issuesOf(stream);
  const { state } = stream.status;
  return (
    <Panel title={text.issues.title}>
      {state === "reconnecting" && (
        <Note tone="warning" title={text.checks.source.away}>
          {text.issues.awayRemedy}
        </Note>
      )}
      {issues.length > 0 && (
        <ul className={classes.issues}>
          {issues.map((issue) => (
            <Issue key={issue.code} issue={issue} />
          ))}
        </ul>
      )}
      {issues.length === 0 && state !== "reconnecting" && (
        <p className="quiet">{state === "idle" ? text.issues.idle : text.issues.none}</p>
      )}
    </Panel>
  );
}

function Issue({ issue }: { readonly issue: OpenIssue }) {
  return (
    <li>
      <Note tone={issue.isHarmful ? "failure" : "quiet"} title={issue.sentence}>
        <span className="quiet">
          {!issue.isHarmful && `${text.issues.harmless} · `}
          {text.issues.since} <Moment at={issue.since} />
        </span>
        <p>{issue.evidence}</p>
        <p>
          <strong>{text.issues.remedy}:</strong> {issue.remedy}
        </p>
      </Note>
    </li>
  );
}
