import { SimpleGrid, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { Store } from '@/api/schema';
import { FormFrame } from '@/shared/forms/FormFrame';
import { Password } from '@/shared/forms/Password';
import { notifySuccess } from '@/shared/ui/undo';
import { useStoreActions } from './queries';
import { CURRENCY, FEE, hasFee, NAME, newStore, type StoreForm, storeChanges, storeForm } from './storeForm';

interface StoreFieldsProps {
  /** The store to change; without one, a store is added. */
  store?: Store;
  onDone: () => void;
}

/** The form of a second store; the server checks its place and its keys before it keeps them. */
export default function StoreFields({ store, onDone }: StoreFieldsProps) {
  const { t } = useTranslation();
  const { add, change } = useStoreActions();
  const isNew = store === undefined;
  const fee = (value: string) => (FEE.test(value.trim()) ? null : t('stores.feeWrong'));
  const both = (value: string, values: StoreForm) =>
    (isNew || values.access_key_id || values.secret_access_key) && !value.trim() ? t('stores.keysMissing') : null;
  const form = useForm<StoreForm>({
    initialValues: storeForm(store),
    validate: {
      name: (value) => (NAME.test(value) ? null : t('stores.nameWrong')),
      endpoint: (value) => (/^https?:\/\/./.test(value.trim()) ? null : t('stores.endpointMissing')),
      bucket: (value) => (value.trim() ? null : t('stores.bucketMissing')),
      access_key_id: both,
      secret_access_key: both,
      egress_per_gib: fee,
      write_per_gib: fee,
      keep_per_gib_month: fee,
      currency: (value, values) =>
        CURRENCY.test(value) || (!value && !hasFee(values)) ? null : t('stores.currencyWrong'),
    },
  });
  const send = async (values: StoreForm) => {
    if (store) {
      await change(store.name, storeChanges(values));
      notifySuccess(t('stores.changed', { name: store.name }));
    } else {
      await add(newStore(values));
      notifySuccess(t('stores.added', { name: values.name }));
    }
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t(isNew ? 'stores.add' : 'common.save')} onCancel={onDone}>
      {isNew && (
        <>
          <TextInput
            label={t('stores.name')}
            description={t('stores.nameHint')}
            autoComplete="off"
            maxLength={63}
            data-autofocus
            {...form.getInputProps('name')}
          />
          <TextInput label={t('stores.endpoint')} autoComplete="off" {...form.getInputProps('endpoint')} />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <TextInput label={t('stores.bucket')} autoComplete="off" {...form.getInputProps('bucket')} />
            <TextInput label={t('stores.region')} autoComplete="off" {...form.getInputProps('region')} />
          </SimpleGrid>
          <TextInput
            label={t('stores.prefix')}
            description={t('stores.prefixHint')}
            autoComplete="off"
            {...form.getInputProps('prefix')}
          />
        </>
      )}
      <TextInput
        label={t('stores.accessKey')}
        description={t(isNew ? 'stores.keysHint' : 'stores.keysKept')}
        autoComplete="off"
        {...form.getInputProps('access_key_id')}
      />
      <Password
        label={t('stores.secretKey')}
        autoComplete="new-password"
        {...form.getInputProps('secret_access_key')}
      />
      <TextInput
        label={t('stores.egress')}
        description={t('stores.egressHint')}
        inputMode="decimal"
        {...form.getInputProps('egress_per_gib')}
      />
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <TextInput label={t('stores.write')} inputMode="decimal" {...form.getInputProps('write_per_gib')} />
        <TextInput label={t('stores.keep')} inputMode="decimal" {...form.getInputProps('keep_per_gib_month')} />
        <TextInput
          label={t('stores.currency')}
          maxLength={3}
          {...form.getInputProps('currency')}
          onChange={(event) => form.setFieldValue('currency', event.currentTarget.value.toUpperCase())}
        />
      </SimpleGrid>
    </FormFrame>
  );
}
