import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { broadcastStrings as text } from "../../shared/strings/broadcast-strings.ts";

/** To the page that broadcasts from this browser. */
export function BroadcastLink({ streamId }: { readonly streamId: string }) {
  return (
    <Button
      variant="default"
      renderRoot={(props) => <Link to="/streams/$streamId/broadcast" params={{ streamId }} {...props} />}
    >
      {text.open}
    </Button>
  );
}
