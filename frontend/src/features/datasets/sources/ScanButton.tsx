import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Source } from '@/api/contract/datasets';
import { notifyError } from '@/shared/ui/undo';
import { useSourceActions } from './queries';

/** Begins a scan, or stops the one that runs. */
export function ScanButton({ source }: { source: Source }) {
  const { t } = useTranslation();
  const { scan, cancel } = useSourceActions();
  const isScanning = source.state === 'scanning';
  const act = () => void (isScanning ? cancel(source) : scan(source.name)).catch(notifyError);
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={t(isScanning ? 'sources.cancelNamed' : 'sources.scanNamed', { name: source.name })}
      onClick={act}
    >
      {t(isScanning ? 'sources.cancel' : 'sources.scan')}
    </Button>
  );
}
