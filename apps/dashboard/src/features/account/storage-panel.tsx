import { useQuery } from "@tanstack/react-query";
import { Figures } from "../../shared/components/figures.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { bytesText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { overviewQuery } from "../overview/overview-queries.ts";

const text = strings.account.settings.storage;

/** The room on the server's disk, and how to keep what is on it. */
export function StoragePanel() {
  const { data, error } = useQuery(overviewQuery);
  return (
    <Panel title={text.title}>
      <QueryProblem error={error} />
      {data && (
        <Figures
          figures={[
            { name: text.disk, value: text.free(bytesText(data.disk.freeBytes), bytesText(data.disk.totalBytes)) },
          ]}
        />
      )}
      <p className="quiet">
        {text.backup}{" "}
        <a href="/docs/operate#the-data-folder" target="_blank" rel="noreferrer">
          {text.how}
        </a>
      </p>
    </Panel>
  );
}
