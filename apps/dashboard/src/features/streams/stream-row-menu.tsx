import { ActionIcon, type ActionIconProps } from "@mantine/core";
import { IconDotsVertical } from "@tabler/icons-react";
import type { Stream } from "@weir/contract";
import { type ComponentProps, memo, Suspense, useState } from "react";
import { lazyPage } from "../../lib/lazy-page.ts";
import { strings } from "../../strings.ts";

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

type ButtonProps = ActionIconProps & ComponentProps<"button"> & { readonly name: string };

export function RowMenuButton({ name, ...button }: ButtonProps) {
  return (
    <ActionIcon {...button} variant="subtle" color="gray" size="lg" aria-label={strings.streams.menu.label(name)}>
      <IconDotsVertical size={18} aria-hidden />
    </ActionIcon>
  );
}
