import { Select, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Parameter } from '@/api/contract/jobs';
import { useModels } from '../queries';
import { DatasetPicker } from './DatasetPicker';
import { NumberField } from './NumberField';

export interface ParameterFieldProps {
  parameter: Parameter;
  value: unknown;
  error: string | undefined;
  onChange: (value: unknown) => void;
}

/** The field that fits a parameter's type. */
export function ParameterField({ parameter, value, error, onChange }: ParameterFieldProps) {
  const { type, title, name, help, required, min, max, choices } = parameter;
  const common = { label: title || name, description: help || undefined, error, withAsterisk: required };
  switch (type) {
    case 'int':
    case 'float':
      return (
        <NumberField
          {...common}
          value={(value ?? '') as number | string}
          onChange={onChange}
          min={min ?? undefined}
          max={max ?? undefined}
          step={type === 'float' ? stepOf(Number(value)) : 1}
        />
      );
    case 'bool':
      return (
        <Switch
          label={common.label}
          description={common.description}
          error={error}
          mt="lg"
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'enum':
      return (
        <Select
          {...common}
          data={(choices ?? []).map(String)}
          value={value == null ? null : String(value)}
          allowDeselect={!required}
          onChange={onChange}
        />
      );
    case 'dataset':
      return <DatasetPicker {...common} value={typeof value === 'string' ? value : ''} onChange={onChange} />;
    case 'model':
      return <ModelField {...common} value={typeof value === 'string' ? value : ''} onChange={onChange} />;
    default:
      return (
        <TextInput
          {...common}
          value={value == null ? '' : String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}

/** A tenth of the value's magnitude: 0.001 moves by 0.0001. */
const stepOf = (value: number) => (value > 0 ? 10 ** Math.floor(Math.log10(value) - 1) : 0.1);

interface TextFieldProps {
  label: string;
  description: string | undefined;
  error: string | undefined;
  withAsterisk: boolean;
  value: string;
  onChange: (value: string) => void;
}

function ModelField(props: TextFieldProps) {
  const { t } = useTranslation();
  const models = useModels();
  const options = (models.data?.results ?? []).flatMap((model) => [
    ...model.aliases.map((alias) => `${model.name}@${alias.name}`),
    ...(model.latest ? [`${model.name}@v${model.latest.number}`] : []),
  ]);
  const data = [...new Set([...options, ...(props.value ? [props.value] : [])])];
  return (
    <Select
      {...props}
      data={data}
      value={props.value || null}
      searchable
      openOnFocus={false}
      placeholder={t('wizard.pickModel')}
      nothingFoundMessage={t('wizard.noModels')}
      onChange={(value) => props.onChange(value ?? '')}
    />
  );
}
