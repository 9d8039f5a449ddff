import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compressed } from "../../tools/compressed.ts";

/** Dialogs, forms, tabs and charts: the first page and the lists show none. */
const DIALOGS =
  /\/src\/shared\/components\/(confirm|dialog(?!-button)|rename|show-as-code|time-chart\.|charts|value-field|code-block)|@mantine\/core\/esm\/components\/(Modal|Menu|Popover|Tabs|Checkbox|Switch|Textarea|PasswordInput|InlineInput|Overlay|ScrollArea|FocusTrap|Portal|CloseButton)|use-focus-|floating-ui|react-remove-scroll|react-style-singleton|use-sidecar|use-callback-ref|get-nonce/;

/** Packages that the first page needs; hls.js and the like are large, and come with the page that needs them. */
const isEverywhere = (id: string): boolean =>
  /\/node_modules\/(?!hls\.js|uplot|media-chrome|ce-la-react|uqr|minisearch|typebox)/.test(id) && !DIALOGS.test(id);

export default defineConfig({
  plugins: [react(), compressed],
  build: {
    target: "es2022",
    // hls.js alone is larger than the default; it is loaded with the first video.
    chunkSizeWarningLimit: 600,
    // The server's content security policy allows no inline script, and data: only for images.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // `/assets` is a page.
    assetsDir: "static",
    // The page uses the contract's types and two of its lists. Making its schemas has no effect, so they and TypeBox stay out: 21 kB.
    rolldownOptions: {
      // The dashboard, the public pages /watch and /embed, and the documentation at /docs.
      input: ["index.html", "watch.html", "docs.html"],
      output: {
        // A few files in place of fifty, because each costs a request with nearly a kilobyte of headers. Large modules that only some pages need stay apart.
        codeSplitting: {
          groups: [
            { name: "packages", test: isEverywhere, priority: 3 },
            // The modules that the public pages share with the dashboard.
            { name: "everywhere", test: /lib\/quantities|vite\/preload-helper/, priority: 2 },
            {
              name: "shared",
              test: (id) => /\/src\/shared\/(?!components\/time-chart-drawing)/.test(id) && !DIALOGS.test(id),
              minShareCount: 4,
              priority: 2,
            },
            // The first page, and the pieces of it that other pages have as well.
            {
              name: "overview",
              test: /\/src\/(pages\/overview|features\/(overview|preview|views\/view-queries|streams\/stream-(queries|state)|sessions\/(session-(queries|thumbnail)|recording-state))|shared\/components\/tile)/,
              priority: 1,
            },
            // The strip of the clip maker draws the same pictures as the player.
            {
              name: "player",
              test: /\/packages\/player\/src\/(?!broadcast\/)/,
              priority: 1,
            },
            // The browser loads these with the first page that has a dialog or a form.
            { name: "dialogs", test: DIALOGS, priority: 1 },
          ],
        },
      },
      treeshake: {
        moduleSideEffects: (id) => !id.includes("/packages/contract/") && !id.includes("/typebox/"),
        manualPureFunctions: ["Type", "exact"],
      },
    },
  },
  server: {
    // `npx vite` beside a running server, for work on the dashboard alone.
    proxy: { "/api": "http://127.0.0.1:8080", "/hls": "http://127.0.0.1:8080", "/asset": "http://127.0.0.1:8080" },
  },
});
