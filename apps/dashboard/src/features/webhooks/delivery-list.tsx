import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Webhook } from "@weir/contract";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Loading } from "../../shared/components/loading.tsx";
import { NoMatch } from "../../shared/components/no-match.tsx";
import page from "../../shared/components/page.module.css";
import { PageLinks } from "../../shared/components/page-links.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { strings } from "../../shared/strings.ts";
import { Delivery } from "./delivery.tsx";
import { groupDeliveries } from "./delivery-groups.ts";
import classes from "./delivery-list.module.css";
import { ReplayDialog } from "./replay-dialog.tsx";
import { type DeliverySearch, deliveriesQuery } from "./webhook-queries.ts";
import { WebhookTest } from "./webhook-test.tsx";

const text = strings.webhooks.deliveries;
/** A viewer waits for its answer, and there are as many as viewers. */
const NOT_LOGGED = "playback.accessControl";

interface Props {
  readonly webhook: Webhook;
  readonly search: DeliverySearch;
  readonly onSearch: (search: DeliverySearch) => void;
}

/** The events that were sent to a webhook, the latest first. */
export function DeliveryList({ webhook, search, onSearch }: Props) {
  const { data, error } = useQuery(deliveriesQuery(webhook.id, search));
  return (
    <Panel
      title={text.title}
      hint={webhook.events.includes(NOT_LOGGED) ? text.hintGate : text.hint}
      action={<WebhookTest webhook={webhook} />}
    >
      <div className={page.filters}>
        <NativeSelect
          aria-label={text.event}
          value={search.event ?? ""}
          data={[{ value: "", label: text.anyEvent }, ...webhook.events]}
          onChange={(event) => onSearch(searchOf(search.failed, event.currentTarget.value))}
        />
        <NativeSelect
          aria-label={text.show}
          value={search.failed ? "failed" : "all"}
          data={[
            { value: "all", label: text.filters.all },
            { value: "failed", label: text.filters.failed },
          ]}
          onChange={(event) => onSearch(searchOf(event.currentTarget.value === "failed", search.event))}
        />
        <div className={classes.replay}>
          <DialogButton
            variant="default"
            label={strings.webhooks.page.replay}
            dialog={(close) => <ReplayDialog webhookId={webhook.id} onClose={close} />}
          />
        </div>
      </div>
      <QueryProblem error={error} />
      {!data && !error && <Loading />}
      {data?.items.length === 0 &&
        (search.failed || search.event ? (
          <NoMatch onClear={() => onSearch({})}>{search.failed ? text.noneFailed : text.noMatch}</NoMatch>
        ) : (
          <p>{text.empty}</p>
        ))}
      {data && data.items.length > 0 && (
        <ul className={classes.list}>
          {groupDeliveries(data.items).map((group) => (
            <Delivery key={group.latest.id} {...group} />
          ))}
        </ul>
      )}
      <PageLinks
        cursor={search.cursor}
        nextCursor={data?.nextCursor}
        onCursor={(cursor) =>
          onSearch({ ...searchOf(search.failed, search.event), ...(cursor !== undefined && { cursor }) })
        }
      />
    </Panel>
  );
}

function searchOf(failed: boolean | undefined, event: string | undefined): DeliverySearch {
  return { ...(failed && { failed: true }), ...(event && { event }) };
}
