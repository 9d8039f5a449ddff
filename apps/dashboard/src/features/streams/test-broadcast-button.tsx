import { Button, type ButtonProps } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { useNow } from "../../shared/lib/now.ts";
import { strings } from "../../shared/strings.ts";
import { useTestBroadcast, useTestBroadcastOf } from "./stream-queries.ts";

const text = strings.streams.guide;
/** The picture takes a few seconds to come after the server has said yes. */
const START_MS = 8000;

interface Props {
  readonly stream: Stream;
  readonly variant?: NonNullable<ButtonProps["variant"]>;
}

/** An active stream has no such button: a test broadcast would take over from its broadcaster. */
export function TestBroadcastButton({ stream, variant = "filled" }: Props) {
  const send = useTestBroadcast();
  const last = useTestBroadcastOf(stream.id);
  const now = useNow();
  const isStarting = last?.status === "pending" || (last?.status === "success" && now - last.submittedAt < START_MS);
  const label = stream.isActive ? text.testLive : isStarting ? text.testStarting : text.testSend;
  return (
    <Button variant={variant} disabled={stream.isActive || isStarting} onClick={() => send.mutate(stream.id)}>
      {label}
    </Button>
  );
}
