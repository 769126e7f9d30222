import { TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Password } from '@/shared/forms/Password';
import { placeKind, type SourceForm } from './newSource';

/** Readable while they are typed: names, which are no secrets. */
const SHOWN = new Set(['access_key_id', 'hdfs_user']);

/** The fields besides the address: they depend on the kind of place. */
export function PlaceFields({ form }: { form: UseFormReturnType<SourceForm> }) {
  const { t } = useTranslation();
  const { hasEndpoint, hasRegion, credentials } = placeKind(form.values.url);
  return (
    <>
      {hasEndpoint && (
        <TextInput
          label={t('sources.endpoint')}
          description={t('sources.endpointHint')}
          {...form.getInputProps('endpoint')}
        />
      )}
      {hasRegion && <TextInput label={t('sources.region')} {...form.getInputProps('region')} />}
      {credentials.map((name, number) => {
        const Input = SHOWN.has(name) ? TextInput : Password;
        return (
          <Input
            key={name}
            label={t(`sources.credentials.${name}`)}
            description={number === 0 ? t('sources.keysHint') : undefined}
            autoComplete={SHOWN.has(name) ? 'off' : 'new-password'}
            {...form.getInputProps(name)}
          />
        );
      })}
    </>
  );
}
