import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { ClusterDetail } from '@/api/schema';
import { FormFrame } from '@/shared/forms/FormFrame';
import { notifySuccess } from '@/shared/ui/undo';
import { acceleratorsOf } from './parts';
import { useClusterActions } from './queries';

const PRICE = /^\d{1,10}(?:\.\d{1,4})?$/;
const CURRENCY = /^[A-Z]{3}$/;

interface PricesFormProps {
  cluster: ClusterDetail;
  onDone: () => void;
}

/** The price of an hour of each kind of accelerator, in one currency. */
export function PricesForm({ cluster, onDone }: PricesFormProps) {
  const { t } = useTranslation();
  const { change } = useClusterActions(cluster.name);
  const known = Object.fromEntries(cluster.prices.map(({ kind, per_hour }) => [kind, String(Number(per_hour))]));
  const kinds = [...new Set([...Object.keys(acceleratorsOf(cluster.nodes)), ...Object.keys(known)])].toSorted();
  const form = useForm({
    // A list: names of kinds have dots, which paths of a form do not.
    initialValues: { currency: cluster.prices[0]?.currency ?? '', prices: kinds.map((kind) => known[kind] ?? '') },
    validate: {
      currency: (value, { prices }) =>
        CURRENCY.test(value) || prices.every((price) => !price.trim()) ? null : t('clusters.currencyWrong'),
      prices: (values) => (values.every((value) => !value.trim() || PRICE.test(value.trim())) ? null : ' '),
    },
  });
  const send = async ({ currency, prices }: typeof form.values) => {
    const rows = kinds.map((kind, index) => ({ kind, per_hour: (prices[index] ?? '').trim(), currency }));
    await change({ prices: rows.filter(({ per_hour }) => per_hour) });
    notifySuccess(t('clusters.pricesKept', { name: cluster.name }));
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t('common.save')} onCancel={onDone} ready={kinds.length > 0}>
      {kinds.length === 0 && <Text size="sm">{t('clusters.noKinds')}</Text>}
      {kinds.map((kind, index) => {
        const value = (form.values.prices[index] ?? '').trim();
        return (
          <TextInput
            key={kind}
            label={t('clusters.priceOf', { kind })}
            description={t('clusters.priceHint')}
            inputMode="decimal"
            autoComplete="off"
            {...form.getInputProps(`prices.${index}`)}
            error={value && !PRICE.test(value) ? t('clusters.priceWrong') : null}
          />
        );
      })}
      <TextInput
        label={t('clusters.currency')}
        description={t('clusters.currencyHint')}
        autoComplete="off"
        maxLength={3}
        {...form.getInputProps('currency')}
        onChange={(event) => form.setFieldValue('currency', event.currentTarget.value.toUpperCase())}
      />
    </FormFrame>
  );
}
