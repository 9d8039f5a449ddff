export const shareStrings = {
  button: "Share & embed",
  title: "Share and embed",
  gated:
    "Viewers need a signed token or an access key. Append it to the link and to the iframe's address as ?jwt=… or ?accessKey=…",
  link: "Watch page",
  qr: "QR code of the watch page",
  samples: "Code for your website",
  code: "code",
  iframe: { name: "iframe", hint: "Paste this into any web page" },
  hlsJs: { name: "hls.js", hint: "A player of your own with hls.js" },
  react: { name: "React", hint: "A React component (npm install hls.js)" },
} as const;
