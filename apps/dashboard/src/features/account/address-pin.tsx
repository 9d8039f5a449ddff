import { Button } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ServerAddress } from "@weir/contract";
import { Note } from "../../shared/components/note.tsx";
import { ValueField } from "../../shared/components/value-field.tsx";
import { useChange } from "../../shared/lib/change.ts";
import { weir } from "../../shared/lib/weir.ts";
import { strings } from "../../shared/strings.ts";

const text = strings.account.settings.address;

const addressQuery = queryOptions({
  queryKey: ["server-address"],
  queryFn: ({ signal }) => weir.dashboard.address({ signal }),
});

/** The address in webhooks and events, which no request names, and how the server knows it. */
export function AddressPin() {
  const { data } = useQuery(addressQuery);
  const pin = useChange(addressQuery.queryKey, (address: string | null) => weir.dashboard.pinAddress(address));
  // Keys that see one project alone may not ask.
  if (!data) return null;
  return (
    <>
      <ValueField label={text.title} value={data.address} />
      <p className="quiet">{text.sources[data.source]}</p>
      {pin.error && <Note tone="failure">{pin.error.message}</Note>}
      {data.source !== "setting" && <PinButton address={data} busy={pin.isPending} onPin={pin.mutate} />}
    </>
  );
}

interface PinProps {
  readonly address: ServerAddress;
  readonly busy: boolean;
  readonly onPin: (address: string | null) => void;
}

function PinButton({ address: { pinned }, busy, onPin }: PinProps) {
  const { origin } = window.location;
  return pinned === null ? (
    <Button variant="default" loading={busy} onClick={() => onPin(origin)}>
      {text.pin(origin)}
    </Button>
  ) : (
    <Button variant="default" loading={busy} onClick={() => onPin(null)}>
      {text.unpin}
    </Button>
  );
}
