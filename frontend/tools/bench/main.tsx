import '@mantine/core/styles.css';
import '@/app/global.css';
import { MantineProvider } from '@mantine/core';
import { createRoot } from 'react-dom/client';
import { resolver, theme } from '@/app/theme';
import { addWords, startI18n } from '@/i18n';
import en from '@/i18n/en';
import { Canvas, canvas } from './canvas';
import { Charts, charts } from './charts';
import { Grid, grid } from './grid';
import { Log, log } from './log';

const PARTS = { grid: Grid, log: Log, charts: Charts, canvas: Canvas };
const bench = { grid, log, charts, canvas };

declare global {
  interface Window {
    bench: typeof bench;
  }
}

/** `?part=grid`, `log`, `charts` or `canvas`; what can be measured is in `window.bench`. */
async function start(host: HTMLElement): Promise<void> {
  await startI18n();
  addWords(en);
  const name = new URLSearchParams(window.location.search).get('part') ?? 'grid';
  const Part = PARTS[name as keyof typeof PARTS];
  createRoot(host).render(
    <MantineProvider theme={theme} cssVariablesResolver={resolver} forceColorScheme="light">
      <main style={{ height: '100vh', display: 'flex', flexDirection: 'column' }}>
        <Part />
      </main>
    </MantineProvider>,
  );
  window.bench = bench;
}

const host = document.getElementById('root');
if (host) void start(host);
