import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Webhook } from "@weir/contract";
import { PageLinks } from "../../components/page-links.tsx";
import { Panel } from "../../components/panel.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { strings } from "../../strings.ts";
import { Delivery } from "./delivery.tsx";
import classes from "./delivery-list.module.css";
import { type DeliverySearch, deliveriesQuery } from "./webhook-queries.ts";

const text = strings.webhooks.deliveries;

interface Props {
  readonly webhook: Webhook;
  readonly search: DeliverySearch;
  readonly onSearch: (search: DeliverySearch) => void;
}

/** Every call of a webhook, the latest first, each to be opened. */
export function DeliveryList({ webhook, search, onSearch }: Props) {
  const { data, error } = useQuery(deliveriesQuery(webhook.id, search));
  return (
    <Panel title={text.title} hint={text.hint}>
      <NativeSelect
        className={classes.filter ?? ""}
        label={text.show}
        value={search.failed ? "failed" : "all"}
        data={[
          { value: "all", label: text.filters.all },
          { value: "failed", label: text.filters.failed },
        ]}
        onChange={(event) => onSearch(event.currentTarget.value === "failed" ? { failed: true } : {})}
      />
      <QueryProblem error={error} />
      {!data && !error && <p className="quiet">{strings.app.loading}</p>}
      {data?.items.length === 0 && <p>{search.failed ? text.noneFailed : text.empty}</p>}
      {data && data.items.length > 0 && (
        <ul className={classes.list}>
          {data.items.map((delivery) => (
            <Delivery key={delivery.id} delivery={delivery} />
          ))}
        </ul>
      )}
      <PageLinks
        cursor={search.cursor}
        nextCursor={data?.nextCursor}
        onCursor={(cursor) =>
          onSearch({ ...(search.failed && { failed: true }), ...(cursor !== undefined && { cursor }) })
        }
      />
    </Panel>
  );
}
