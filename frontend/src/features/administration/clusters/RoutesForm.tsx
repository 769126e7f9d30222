import { ActionIcon, Button, Fieldset, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ClusterDetail } from '@/api/schema';
import { FormFrame } from '@/shared/forms/FormFrame';
import { notifySuccess } from '@/shared/ui/undo';
import { useClusterActions } from './queries';

const FEE = /^\d{1,8}(?:\.\d{1,6})?$/;
const RATE = /^\d{1,9}(?:\.\d{1,3})?$/;
const CURRENCY = /^[A-Z]{3}$/;
const MEGABYTE = 1e6;
const MAX_ROWS = 100;

interface Route {
  store: string;
  /** Megabytes a second; empty: not known. */
  rate: string;
  fee: string;
  currency: string;
}

interface RoutesFormProps {
  cluster: ClusterDetail;
  onDone: () => void;
}

/** How fast a cluster reads from each store, and what a GiB out of it costs. */
export default function RoutesForm({ cluster, onDone }: RoutesFormProps) {
  const { t } = useTranslation();
  const { change } = useClusterActions(cluster.name);
  const empty = { store: '', rate: '', fee: '0', currency: cluster.prices[0]?.currency ?? '' };
  const form = useForm<{ stores: Route[] }>({
    initialValues: {
      stores: cluster.stores.length > 0 ? cluster.stores.map(shownRoute) : [{ ...empty, store: 'atom' }],
    },
    validate: {
      stores: {
        store: (value, { stores }) => {
          if (!value.trim()) return t('clusters.storeMissing');
          const isTwice = stores.filter(({ store }) => store.trim() === value.trim()).length > 1;
          return isTwice ? t('clusters.storeTwice') : null;
        },
        rate: (value) =>
          !value.trim() || (RATE.test(value.trim()) && Number(value) > 0) ? null : t('clusters.rateWrong'),
        fee: (value) => (FEE.test(value.trim()) ? null : t('clusters.feeWrong')),
        currency: (value) => (CURRENCY.test(value) ? null : t('clusters.currencyWrong')),
      },
    },
  });
  const send = async ({ stores }: typeof form.values) => {
    await change({ stores: stores.map(sentRoute) });
    notifySuccess(t('clusters.routesKept', { name: cluster.name }));
    onDone();
  };
  const field = (index: number, name: keyof Route) => form.getInputProps(`stores.${index}.${name}`);
  return (
    <FormFrame form={form} send={send} submit={t('common.save')} onCancel={onDone}>
      <Text size="sm" c="dimmed">
        {t('clusters.routesHint')}
      </Text>
      {form.values.stores.map((route, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name of its own until it is written
        <Fieldset key={index} legend={route.store.trim() || t('clusters.newStore')} variant="filled" p="sm">
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <TextInput
              label={t('clusters.store')}
              description={t('clusters.storeHint')}
              autoComplete="off"
              maxLength={200}
              {...field(index, 'store')}
            />
            <TextInput
              label={t('clusters.rate')}
              description={t('clusters.rateHint')}
              inputMode="decimal"
              autoComplete="off"
              {...field(index, 'rate')}
            />
            <TextInput label={t('clusters.fee')} inputMode="decimal" autoComplete="off" {...field(index, 'fee')} />
            <TextInput
              label={t('clusters.currency')}
              autoComplete="off"
              maxLength={3}
              {...field(index, 'currency')}
              onChange={(event) =>
                form.setFieldValue(`stores.${index}.currency`, event.currentTarget.value.toUpperCase())
              }
            />
          </SimpleGrid>
          <ActionIcon
            variant="subtle"
            color="red"
            mt="xs"
            aria-label={t('clusters.removeRoute', { store: route.store.trim() || t('clusters.newStore') })}
            onClick={() => form.removeListItem('stores', index)}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Fieldset>
      ))}
      <div>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          disabled={form.values.stores.length >= MAX_ROWS}
          onClick={() => form.insertListItem('stores', { ...empty })}
        >
          {t('clusters.addRoute')}
        </Button>
      </div>
    </FormFrame>
  );
}

const shownRoute = ({
  store,
  bandwidth_bytes_per_s: rate,
  egress_per_gib: fee,
  currency,
}: ClusterDetail['stores'][number]) => ({
  store,
  rate: rate == null ? '' : String(rate / MEGABYTE),
  fee: String(Number(fee)),
  currency,
});

const sentRoute = ({ store, rate, fee, currency }: Route) => ({
  store: store.trim(),
  bandwidth_bytes_per_s: rate.trim() ? Math.round(Number(rate) * MEGABYTE) : null,
  egress_per_gib: fee.trim(),
  currency,
});
