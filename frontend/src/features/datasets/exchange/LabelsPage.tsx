import { Card } from '@mantine/core';
import { IconArrowsLeftRight, IconLock } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { ListedLabelTransfer } from '@/api/contract/labeling';
import { useMay } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { AnchorLink, ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { DatasetPartHeader } from '../DatasetPartHeader';
import { ExportForm, ImportForm } from './forms';
import { useTransfers } from './queries';
import { TransferView } from './TransferView';

const route = getRouteApi('/datasets/$name/labels');

/** Labels of a dataset, into it and out of it: a form, one transfer, or the list of all. */
export function LabelsPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const { ref = 'main', act, task, transfer } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay('researcher');
  const show = (next: string | undefined) => void navigate({ search: () => ({ ref, transfer: next }) });
  const cancel = () => void navigate({ search: () => ({ ref }) });
  const body = () => {
    if (transfer) return <TransferView key={transfer} id={transfer} />;
    if (act === 'import')
      return may ? (
        <ImportForm name={name} branch={/^v\d+$/.test(ref) ? 'main' : ref} onSent={show} onCancel={cancel} />
      ) : (
        <EmptyState icon={IconLock} title={t('exchange.mayNot')} />
      );
    if (act === 'export') return <ExportForm name={name} version={ref} task={task} onSent={show} onCancel={cancel} />;
    return <Transfers name={name} version={ref} />;
  };
  const isList = !transfer && !act;
  const title = isList ? 'title' : act === 'import' ? 'importTitle' : act === 'export' ? 'exportTitle' : 'title';
  return (
    <Page>
      <DatasetPartHeader
        name={name}
        tab="files"
        title={t(`exchange.${title}`)}
        documentTitle={t('exchange.documentTitle', { name })}
        subtitle={t('exchange.subtitle')}
        above={
          isList ? (
            <AnchorLink to="/datasets/$name" params={{ name }} search={{ ref }} size="sm">
              {name}
            </AnchorLink>
          ) : (
            <AnchorLink to="/datasets/$name/labels" params={{ name }} search={{ ref }} size="sm">
              {t('exchange.back')}
            </AnchorLink>
          )
        }
      />
      {body()}
    </Page>
  );
}

function Transfers({ name, version }: { name: string; version: string }) {
  const { t } = useTranslation();
  const may = useMay('researcher');
  const transfers = useTransfers(name);
  const columns: Column<ListedLabelTransfer>[] = [
    { key: 'direction', header: t('exchange.direction'), cell: (it) => t(`exchange.directions.${it.direction}`) },
    { key: 'format', header: t('exchange.format'), cell: (it) => t(`exchange.formats.${it.format as 'coco'}`) },
    { key: 'state', header: t('exchange.state'), cell: (it) => t(`exchange.states.${it.state}`) },
    { key: 'version', header: t('exchange.source'), cell: (it) => (it.output_version ?? it.version)?.ref ?? '' },
    { key: 'by', header: t('exchange.by'), cell: (it) => it.created_by?.username ?? '' },
    { key: 'created', header: t('exchange.created'), cell: (it) => <RelativeTime at={it.created_at} /> },
  ];
  const to = (act: string) => ({
    to: '/datasets/$name/labels' as const,
    params: { name },
    search: { ref: version, act },
  });
  const buttons = (
    <>
      {may && <ButtonLink {...to('import')}>{t('exchange.importTitle')}</ButtonLink>}
      <ButtonLink variant="default" ml={may ? 'xs' : 0} {...to('export')}>
        {t('exchange.exportTitle')}
      </ButtonLink>
    </>
  );
  return (
    <>
      <div style={{ marginBottom: 'var(--mantine-spacing-md)' }}>{buttons}</div>
      <Card p={0}>
        <DataTable
          {...transfers}
          label={t('exchange.transfers')}
          columns={columns}
          rowKey={({ id }) => id}
          rowName={(it) => `${t(`exchange.directions.${it.direction}`)} ${it.format} ${it.filename}`}
          rowLink={({ id }) => ({
            to: '/datasets/$name/labels',
            params: { name },
            search: { ref: version, transfer: id },
          })}
          empty={<EmptyState icon={IconArrowsLeftRight} title={t('exchange.none')} />}
        />
      </Card>
    </>
  );
}
