import { Button } from '@mantine/core';
import { IconPrinter } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { addWords } from '@/i18n';
import { report } from '@/shared/ui/print/report.en';
import { useMe } from '../../domain/me';
import { useCurrentProject } from '../../domain/project';
import { useCommands } from '../commands';
import { useFormat } from '../format';
import { notifyWarning } from '../undo';
import classes from './print.module.css';
import { setPrinting, usePrinting } from './printing';
import { whenReady } from './whenReady';

addWords({ report });

/** Shows the page as a report, waits for its charts and pictures, prints it, and shows the page again. */
function usePrintReport(): () => Promise<void> {
  const { t } = useTranslation();
  const client = useQueryClient();
  const busy = useRef(false);
  // The page may be left meanwhile; a browser that prints later says so by `afterprint`.
  useEffect(() => {
    const end = () => setPrinting(false);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('afterprint', end);
      end();
    };
  }, []);
  return async () => {
    if (busy.current) return;
    busy.current = true;
    setPrinting(true);
    const isWhole = await whenReady(client);
    busy.current = false;
    if (!isWhole) notifyWarning(t('report.notWhole'));
    window.print();
  };
}

/** The button of a page that can be printed; it is in the palette too. */
export function PrintReport() {
  const { t } = useTranslation();
  const print = usePrintReport();
  const printing = usePrinting();
  useCommands([{ id: 'print-report', label: t('report.print'), icon: IconPrinter, run: () => void print() }]);
  return (
    <Button
      variant="default"
      leftSection={<IconPrinter size={14} />}
      loading={printing}
      onClick={() => void print()}
      data-no-print
    >
      {t('report.print')}
    </Button>
  );
}

/** Where and when a report comes from; on paper only. */
export function ReportOrigin() {
  const { t } = useTranslation();
  const format = useFormat();
  const me = useMe();
  const project = useCurrentProject();
  if (!usePrinting()) return null;
  const who = me?.full_name || me?.username || '';
  return (
    <p className={classes.origin}>
      {t('report.origin', { project: project?.name || project?.slug, at: format.dateTime(new Date()), who })}
      <br />
      {window.location.href}
    </p>
  );
}
