import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    // The server's content security policy allows no inline script, and data: only for images.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  server: {
    // `npx vite` beside a running server, for work on the dashboard alone.
    proxy: { "/api": "http://127.0.0.1:8080", "/hls": "http://127.0.0.1:8080", "/asset": "http://127.0.0.1:8080" },
  },
});
