import { Button } from "@mantine/core";
import { IconCode } from "@tabler/icons-react";
import type { ClientCall } from "@weir/client/samples";
import { Suspense, useState } from "react";
import { lazyPage } from "../lib/lazy-page.ts";
import { codeStrings as text } from "../strings/code-strings.ts";
import classes from "./show-as-code.module.css";

const RequestCode = lazyPage(() => import("./request-code.tsx"), "RequestCode");

/** Shows the request that a form would send now, as code. */
export function ShowAsCode({ call }: { readonly call: ClientCall }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className={classes.place}>
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<IconCode size={16} aria-hidden />}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? text.hide : text.show}
      </Button>
      <Suspense>{isOpen && <RequestCode call={call} />}</Suspense>
    </div>
  );
}
