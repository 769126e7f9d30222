import { ActionIcon, Button, Card, Group, Menu, Skeleton, Stack, Text } from '@mantine/core';
import { IconCloudDataConnection, IconDotsVertical, IconPlus } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Store } from '@/api/schema';
import { useMe } from '@/shared/domain/me';
import { problemSentence } from '@/shared/domain/problemWords';
import { useRights } from '@/shared/domain/project';
import { ConfirmTyped } from '@/shared/forms/ConfirmTyped';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { whenReachable } from '@/shared/live/connection';
import { Dialog } from '@/shared/ui/Dialog';
import { EmptyState } from '@/shared/ui/EmptyState';
import { Forbidden } from '@/shared/ui/Forbidden';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { Count } from '@/shared/ui/values';
import { AdministrationHeader } from '../AdministrationHeader';
import { useStoreActions, useStores } from './queries';

const StoreFields = lazy(whenReachable(() => import('./StoreFields')));

/** Buckets beside the installation's own, for versions that are replicated. */
export function StoresPage() {
  const { t } = useTranslation();
  const { installation } = useRights();
  const me = useMe();
  const [isAdding, setAdding] = useState(false);
  return (
    <Page>
      <AdministrationHeader tab="stores" subtitle={t('stores.subtitle')}>
        {installation && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
            {t('stores.add')}
          </Button>
        )}
      </AdministrationHeader>
      {installation ? (
        <Card p={0}>
          <Stores onAdd={() => setAdding(true)} />
        </Card>
      ) : (
        me && <Forbidden by="installation" hint={t('stores.forbidden')} />
      )}
      <Dialog opened={isAdding} onClose={() => setAdding(false)} title={t('stores.addTitle')}>
        <Suspense fallback={<Skeleton height={420} />}>
          <StoreFields onDone={() => setAdding(false)} />
        </Suspense>
      </Dialog>
    </Page>
  );
}

function Stores({ onAdd }: { onAdd: () => void }) {
  const { t } = useTranslation();
  const stores = useStores();
  const columns: Column<Store>[] = [
    { key: 'name', header: t('stores.name'), cell: ({ name }) => <Text size="sm">{name}</Text>, nowrap: true },
    { key: 'check', header: t('stores.lastCheck'), cell: (store) => <LastCheck store={store} /> },
    { key: 'place', header: t('stores.place'), cell: (store) => <Place store={store} />, from: 'md' },
    { key: 'fees', header: t('stores.fees'), cell: (store) => <Fees store={store} />, from: 'sm' },
    {
      key: 'replicas',
      header: t('stores.replicas'),
      align: 'right',
      cell: (store) => <Count value={store.replica_count} />,
    },
    { key: 'actions', header: t('stores.actions'), align: 'right', cell: (store) => <Actions store={store} /> },
  ];
  return (
    <DataTable
      {...stores}
      label={t('stores.table')}
      columns={columns}
      rowKey={({ id }) => id}
      empty={
        <EmptyState
          icon={IconCloudDataConnection}
          title={t('stores.empty')}
          action={
            <Stack align="center" gap="sm">
              <Text size="sm" c="dimmed">
                {t('stores.emptyHint')}
              </Text>
              <Button onClick={onAdd}>{t('stores.add')}</Button>
            </Stack>
          }
        />
      }
    />
  );
}

function LastCheck({ store: { problem, checked_at } }: { store: Store }) {
  const { t } = useTranslation();
  return (
    <Stack gap={2} maw={360}>
      <Group gap="xs">
        <StateBadge
          state={problem ? 'failed' : 'succeeded'}
          label={t(problem ? 'stores.failed' : 'stores.passed')}
          size="sm"
        />
        {checked_at && (
          <Text size="xs" c="dimmed" component="span">
            <RelativeTime at={checked_at} />
          </Text>
        )}
      </Group>
      {problem && <Text size="xs">{problemSentence(problem)}</Text>}
    </Stack>
  );
}

const Place = ({ store: { endpoint, bucket, prefix, region } }: { store: Store }) => (
  <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
    {[endpoint, `${bucket}/${prefix ?? ''}`, region].filter(Boolean).join(' · ')}
  </Text>
);

function Fees({ store }: { store: Store }) {
  const { t } = useTranslation();
  const fee = (value: string | null | undefined) => (value == null ? t('stores.unknown') : String(Number(value)));
  const { egress_per_gib, write_per_gib, keep_per_gib_month, currency } = store;
  return (
    <Text size="xs" className="tabular">
      {t('stores.feesOf', {
        egress: fee(egress_per_gib),
        write: fee(write_per_gib),
        keep: fee(keep_per_gib_month),
        currency,
      })}
    </Text>
  );
}

function Actions({ store }: { store: Store }) {
  const { t } = useTranslation();
  const { check, remove } = useStoreActions();
  const [opened, setOpened] = useState<'change' | 'remove' | null>(null);
  const { name } = store;
  const close = () => setOpened(null);
  const run = (action: Promise<unknown>, done: string) =>
    void action.then(() => notifySuccess(done), notifyError).then(close);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`${t('common.more')}: ${name}`}>
            <IconDotsVertical size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => run(check(name), t('stores.checked', { name }))}>
            {t('stores.check', { name })}
          </Menu.Item>
          <Menu.Item onClick={() => setOpened('change')}>{t('stores.change')}</Menu.Item>
          <Menu.Item color="red" onClick={() => setOpened('remove')}>
            {t('stores.remove', { name })}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={opened === 'change'} onClose={close} title={t('stores.changeTitle', { name })}>
        <Suspense fallback={<Skeleton height={320} />}>
          <StoreFields store={store} onDone={close} />
        </Suspense>
      </Dialog>
      <ConfirmTyped
        opened={opened === 'remove'}
        onClose={close}
        onConfirm={() => run(remove(name), t('stores.removed', { name }))}
        title={t('stores.removeTitle', { name })}
        word={name}
        confirmLabel={t('stores.removeDo')}
      >
        {t('stores.removeText')}
      </ConfirmTyped>
    </>
  );
}
