import { createTheme, type MantineColorsTuple } from "@mantine/core";
import { strings } from "../shared/strings.ts";

/** Deep water: the one accent. Shade 7 on white and white on shade 7 have a contrast of 6.3 to 1. */
const water: MantineColorsTuple = [
  "#e9f4f9",
  "#d2e6f0",
  "#a5cde2",
  "#75b3d3",
  "#4d9cc6",
  "#338dbe",
  "#1a7aad",
  "#0e6690",
  "#0a5375",
  "#06405b",
];

const gray: MantineColorsTuple = [
  "#f7f8f9",
  "#f0f2f3",
  "#e5e8ea",
  "#d6dbde",
  "#c2c9cd",
  "#9aa5ac",
  "#5f6c74",
  "#46525a",
  "#2c363c",
  "#1a2126",
];

const dark: MantineColorsTuple = [
  "#e3e8eb",
  "#b9c2c8",
  "#97a3ab",
  "#64717a",
  "#2c353b",
  "#232b30",
  "#1a2024",
  "#12171a",
  "#0d1113",
  "#090c0e",
];

export const theme = createTheme({
  colors: { water, gray, dark },
  primaryColor: "water",
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  components: {
    Modal: {
      defaultProps: {
        centered: true,
        shadow: "none",
        transitionProps: { duration: 100 },
        closeButtonProps: { "aria-label": strings.actions.close },
      },
      styles: {
        content: { background: "var(--w-surface)", border: "1px solid var(--w-border)" },
        header: { background: "var(--w-surface)" },
        title: { fontSize: 16, fontWeight: 650 },
      },
    },
  },
});
