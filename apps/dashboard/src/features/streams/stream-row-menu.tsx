import type { Stream } from "@weir/contract";
import { memo, Suspense, useState } from "react";
import { lazyPage } from "../../shared/lib/lazy-page.ts";
import { RowMenuButton } from "./row-menu-button.tsx";

const StreamMenu = lazyPage(() => import("./stream-menu.tsx"), "StreamMenu");

/** The actions for one row of the list. Until somebody asks for them, a row has a plain button: a list of menus is slow to render. */
export const StreamRowMenu = memo(({ stream }: { readonly stream: Stream }) => {
  const [isWanted, setWanted] = useState(false);
  const button = <RowMenuButton name={stream.name} onClick={() => setWanted(true)} />;
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <StreamMenu stream={stream} />
    </Suspense>
  );
});
