import { ActionIcon, Button, Menu, Skeleton } from '@mantine/core';
import { useForm } from '@mantine/form';
import {
  IconCoin,
  IconDotsVertical,
  IconKey,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlugConnected,
  IconRefresh,
  IconRoute,
  IconTrash,
  IconUsers,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ClusterDetail } from '@/api/schema';
import { ConfirmTyped } from '@/shared/forms/ConfirmTyped';
import { FormFrame } from '@/shared/forms/FormFrame';
import { whenReachable } from '@/shared/live/connection';
import { Dialog } from '@/shared/ui/Dialog';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { isTryingPod } from './Findings';
import { PricesForm } from './PricesForm';
import { useClusterActions } from './queries';
import { KubeconfigField } from './RegisterDialog';

const AccessForm = lazy(whenReachable(() => import('./AccessForm')));
const RoutesForm = lazy(whenReachable(() => import('./RoutesForm')));

/** Actions of an administrator of the installation on a registered cluster. */
export function ClusterActions({ cluster }: { cluster: ClusterDetail }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [opened, setOpened] = useState<'change' | 'access' | 'routes' | 'prices' | 'remove' | null>(null);
  const { name, state } = cluster;
  const { check, tryPod, drain, resume, remove, isPending } = useClusterActions(name);
  const run = (action: () => Promise<unknown>, done: string) =>
    void action().then(() => notifySuccess(done), notifyError);
  const leave = async () => {
    await remove();
    notifySuccess(t('clusters.removed', { name }));
    await navigate({ to: '/settings/clusters' });
  };
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconRefresh size={16} />}
        loading={isPending}
        onClick={() => run(check, t('clusters.checked'))}
      >
        {t('clusters.check')}
      </Button>
      <Button
        variant="default"
        leftSection={<IconPlugConnected size={16} />}
        title={t('clusters.tryPodHint')}
        disabled={isTryingPod(cluster.findings ?? null)}
        onClick={() => run(tryPod, t('clusters.podTried'))}
      >
        {t('clusters.tryPod')}
      </Button>
      {state === 'draining' ? (
        <Button
          variant="default"
          leftSection={<IconPlayerPlay size={16} />}
          onClick={() => run(resume, t('clusters.resumed', { name }))}
        >
          {t('clusters.resume')}
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} />}
          title={t('clusters.drainHint', { name })}
          onClick={() => run(drain, t('clusters.drained', { name }))}
        >
          {t('clusters.drain')}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={t('common.more')}>
            <IconDotsVertical size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconUsers size={14} />} onClick={() => setOpened('access')}>
            {t('clusters.setAccess')}
          </Menu.Item>
          <Menu.Item leftSection={<IconKey size={14} />} onClick={() => setOpened('change')}>
            {t('clusters.change')}
          </Menu.Item>
          <Menu.Item leftSection={<IconCoin size={14} />} onClick={() => setOpened('prices')}>
            {t('clusters.setPrices')}
          </Menu.Item>
          <Menu.Item leftSection={<IconRoute size={14} />} onClick={() => setOpened('routes')}>
            {t('clusters.setRoutes')}
          </Menu.Item>
          <Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={() => setOpened('remove')}>
            {t('clusters.remove')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={opened === 'change'} onClose={() => setOpened(null)} size="lg" title={t('clusters.change')}>
        <ReplaceForm name={name} onDone={() => setOpened(null)} />
      </Dialog>
      <Dialog opened={opened === 'prices'} onClose={() => setOpened(null)} size="md" title={t('clusters.setPrices')}>
        <PricesForm cluster={cluster} onDone={() => setOpened(null)} />
      </Dialog>
      <Dialog opened={opened === 'access'} onClose={() => setOpened(null)} size="md" title={t('clusters.setAccess')}>
        <Suspense fallback={<Skeleton height={220} />}>
          <AccessForm cluster={cluster} onDone={() => setOpened(null)} />
        </Suspense>
      </Dialog>
      <Dialog opened={opened === 'routes'} onClose={() => setOpened(null)} size="lg" title={t('clusters.setRoutes')}>
        <Suspense fallback={<Skeleton height={220} />}>
          <RoutesForm cluster={cluster} onDone={() => setOpened(null)} />
        </Suspense>
      </Dialog>
      <ConfirmTyped
        opened={opened === 'remove'}
        onClose={() => setOpened(null)}
        onConfirm={() => void leave().catch(notifyError)}
        title={t('clusters.removeTitle', { name })}
        word={name}
        confirmLabel={t('clusters.remove')}
        loading={isPending}
      >
        {t('clusters.removeText')}
      </ConfirmTyped>
    </>
  );
}

function ReplaceForm({ name, onDone }: { name: string; onDone: () => void }) {
  const { t } = useTranslation();
  const { change } = useClusterActions(name);
  const form = useForm({
    initialValues: { kubeconfig: '' },
    validate: { kubeconfig: (value) => (value.trim() ? null : t('clusters.kubeconfigMissing')) },
  });
  const send = async ({ kubeconfig }: typeof form.values) => {
    await change({ kubeconfig });
    notifySuccess(t('clusters.replaced', { name }));
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t('clusters.change')} onCancel={onDone}>
      <KubeconfigField {...form.getInputProps('kubeconfig')} />
    </FormFrame>
  );
}
