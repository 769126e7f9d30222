import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { precompress } from './tools/vite-precompress.ts';
import { preloadFont } from './tools/vite-preload-font.ts';

const backend = process.env.ATOM_BACKEND ?? 'http://127.0.0.1:8000';
// changeOrigin stays false: Django compares Origin with Host, and a rewritten Host fails CSRF.
const toBackend = { target: backend, changeOrigin: false };

export default defineConfig({
  plugins: [react(), preloadFont(), precompress()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  server: {
    port: 5173,
    proxy: {
      '/api': toBackend,
      '/healthz': toBackend,
      '/media': toBackend,
      '/s3': toBackend,
      '/ws': { ...toBackend, ws: true },
    },
  },
  build: {
    target: 'es2022',
    sourcemap: false,
    chunkSizeWarningLimit: 500,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // React changes least. Mantine is not grouped: the first page would load what only later pages use.
          groups: [{ name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// }],
        },
      },
    },
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/test/setup.ts'],
    isolate: false,
  },
});
