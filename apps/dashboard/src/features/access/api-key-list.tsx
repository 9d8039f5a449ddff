import { Button } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { ApiToken } from "@weir/contract";
import { useState } from "react";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Moment } from "../../components/moment.tsx";
import classes from "../../components/table.module.css";
import { strings } from "../../strings.ts";
import { sessionQuery } from "../account/account-queries.ts";
import page from "./access-page.module.css";
import { kindOf } from "./api-key-access.ts";
import { useDeleteApiKey } from "./api-key-queries.ts";

const text = strings.access.apiKeys;

/** A table on wide screens, cards on phones. */
export function ApiKeyList({ keys }: { readonly keys: readonly ApiToken[] }) {
  const narrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  return narrow ? <ApiKeyCards keys={keys} /> : <ApiKeyTable keys={keys} />;
}

function ApiKeyTable({ keys }: { readonly keys: readonly ApiToken[] }) {
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{text.columns.name}</th>
          <th scope="col">{text.columns.begins}</th>
          <th scope="col">{text.columns.access}</th>
          <th scope="col">{text.columns.created}</th>
          <th scope="col">{text.columns.lastUsed}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={key.id}>
            <td>
              <strong>{key.name}</strong>
            </td>
            <td>
              <Beginning apiKey={key} />
            </td>
            <td>
              <AccessWords apiKey={key} />
            </td>
            <td>
              <Moment at={key.createdAt} />
            </td>
            <td>
              <LastUsed apiKey={key} />
            </td>
            <td className={classes.number}>
              <DeleteKeyButton apiKey={key} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ApiKeyCards({ keys }: { readonly keys: readonly ApiToken[] }) {
  return (
    <ul className={classes.cards}>
      {keys.map((key) => (
        <li key={key.id} className={classes.card}>
          <div className={classes.cardHead}>
            <strong>{key.name}</strong>
            <Beginning apiKey={key} />
          </div>
          <AccessWords apiKey={key} />
          <div className={classes.cardLine}>
            <span className="quiet">
              {text.columns.lastUsed}: <LastUsed apiKey={key} />
            </span>
            <DeleteKeyButton apiKey={key} />
          </div>
        </li>
      ))}
    </ul>
  );
}

interface Props {
  readonly apiKey: ApiToken;
}

function Beginning({ apiKey: { keyPrefix } }: Props) {
  return <code>{keyPrefix === "" ? strings.actions.none : `${keyPrefix}…`}</code>;
}

function LastUsed({ apiKey: { lastSeen } }: Props) {
  return lastSeen ? <Moment at={lastSeen} /> : <span className="quiet">{strings.actions.never}</span>;
}

function AccessWords({ apiKey: { access } }: Props) {
  const origins = access?.cors?.allowedOrigins ?? [];
  return (
    <div>
      {text.kinds[kindOf(access)]}
      {origins.length > 0 && (
        <p className={`quiet ${page.origins}`}>
          {origins.includes("*") ? text.anyOrigin : text.fromOrigins(origins.join(", "))}
        </p>
      )}
    </div>
  );
}

/** Asks once. The key that this page is signed in with stays: without it nobody could come back. */
function DeleteKeyButton({ apiKey }: Props) {
  const { data: session } = useQuery(sessionQuery);
  const [isAsking, setAsking] = useState(false);
  const remove = useDeleteApiKey();
  if (session?.keyName === apiKey.name && session.keyPrefix === apiKey.keyPrefix)
    return <span className="quiet">{text.signedIn}</span>;
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setAsking(true)}>
        {text.delete}
      </Button>
      {isAsking && (
        <ConfirmDialog
          opened
          title={text.deleteAsk.title(apiKey.name)}
          body={text.deleteAsk.body}
          confirm={text.deleteAsk.confirm}
          busy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate(apiKey.id, { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
