import type { CreatedS3Key } from '@/api/contract/accounts';

export const TOOLS = ['aws', 'boto3', 's5cmd', 'rclone'] as const;
export type Tool = (typeof TOOLS)[number];
type Key = Pick<CreatedS3Key, 'access_key_id' | 'secret_access_key' | 'endpoint_url'>;

const exports = (key: Key, endpointVariable: string) =>
  [
    `export AWS_ACCESS_KEY_ID=${key.access_key_id}`,
    `export AWS_SECRET_ACCESS_KEY=${key.secret_access_key}`,
    `export ${endpointVariable}=${key.endpoint_url}`,
    'export AWS_REGION=us-east-1',
  ].join('\n');

const WRITERS: Record<Tool, (key: Key) => string> = {
  aws: (key) => `${exports(key, 'AWS_ENDPOINT_URL')}\naws s3 ls s3://`,
  boto3: (key) =>
    [
      'import boto3',
      's3 = boto3.client(',
      `    "s3", endpoint_url="${key.endpoint_url}", region_name="us-east-1",`,
      `    aws_access_key_id="${key.access_key_id}",`,
      `    aws_secret_access_key="${key.secret_access_key}",`,
      ')',
      'print([bucket["Name"] for bucket in s3.list_buckets()["Buckets"]])',
    ].join('\n'),
  s5cmd: (key) => `${exports(key, 'S3_ENDPOINT_URL')}\ns5cmd ls`,
  rclone: (key) =>
    [
      exports(key, 'RCLONE_CONFIG_ATOM_ENDPOINT'),
      'export RCLONE_CONFIG_ATOM_TYPE=s3 RCLONE_CONFIG_ATOM_PROVIDER=Other',
      'export RCLONE_CONFIG_ATOM_ENV_AUTH=true',
      'rclone lsd atom:',
    ].join('\n'),
};

/** The text to paste so that a tool lists the buckets with a key. */
export const snippet = (tool: Tool, key: Key): string => WRITERS[tool](key);
