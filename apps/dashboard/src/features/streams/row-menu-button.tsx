import { ActionIcon, type ActionIconProps } from "@mantine/core";
import { IconDotsVertical } from "@tabler/icons-react";
import type { ComponentProps } from "react";
import { strings } from "../../shared/strings.ts";

type Props = ActionIconProps & ComponentProps<"button"> & { readonly name: string };

/** Opens the menu of a row. */
export function RowMenuButton({ name, ...button }: Props) {
  return (
    <ActionIcon {...button} variant="subtle" color="gray" size="lg" aria-label={strings.streams.menu.label(name)}>
      <IconDotsVertical size={18} aria-hidden />
    </ActionIcon>
  );
}
