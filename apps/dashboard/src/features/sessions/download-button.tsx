import { Button, type ButtonProps } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import type { PlaybackPolicy } from "@weir/contract";
import { reachableAddress } from "../../shared/lib/local-addresses.ts";
import { useOwnerAddress } from "../preview/owner-preview.ts";
import { playbackIdOf } from "./recording-address.ts";

interface Props extends Pick<ButtonProps, "size"> {
  readonly mp4Url: string;
  readonly policy: PlaybackPolicy | null | undefined;
  readonly label: string;
}

/** Downloads a recording as one MP4, whatever its policy. */
export function DownloadButton({ mp4Url, policy, size = "sm", label }: Props) {
  const address = useOwnerAddress(reachableAddress(mp4Url, window.location), playbackIdOf(mp4Url), policy);
  return (
    <Button
      size={size}
      variant="default"
      component="a"
      href={address}
      loading={address === undefined}
      leftSection={<IconDownload size={size === "sm" ? 16 : 14} aria-hidden />}
    >
      {label}
    </Button>
  );
}
