import { NativeSelect } from "@mantine/core";
import { broadcastStrings as text } from "../../shared/strings/broadcast-strings.ts";
import { type CaptureChoice, type CaptureDevices, canShareScreen, NO_MICROPHONE } from "./capture.ts";

interface Props {
  readonly choice: CaptureChoice;
  readonly devices: CaptureDevices;
  /** The sources of a broadcast stay as they are. */
  readonly isDisabled: boolean;
  readonly onChange: (choice: CaptureChoice) => void;
}

/** The choice of camera or screen, and of a microphone. */
export function BroadcastControls({ choice, devices, isDisabled, onChange }: Props) {
  const options = (list: readonly MediaDeviceInfo[]) => [
    { value: "", label: text.automatic },
    ...list.map(({ deviceId, label }) => ({ value: deviceId, label })),
  ];
  return (
    <>
      {canShareScreen() && (
        <NativeSelect
          label={text.source}
          disabled={isDisabled}
          value={choice.source}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...choice, source: value === "screen" ? "screen" : "camera" })
          }
          data={[
            { value: "camera", label: text.sources.camera },
            { value: "screen", label: text.sources.screen },
          ]}
        />
      )}
      {choice.source === "camera" && (
        <NativeSelect
          label={text.camera}
          disabled={isDisabled}
          value={choice.camera ?? ""}
          data={options(devices.cameras)}
          onChange={({ currentTarget }) => onChange({ ...choice, camera: currentTarget.value || null })}
        />
      )}
      <NativeSelect
        label={text.microphone}
        disabled={isDisabled}
        value={choice.microphone ?? ""}
        data={[...options(devices.microphones), { value: NO_MICROPHONE, label: text.noMicrophone }]}
        onChange={({ currentTarget }) => onChange({ ...choice, microphone: currentTarget.value || null })}
      />
    </>
  );
}
