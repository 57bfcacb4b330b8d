import { defineConfig } from 'prisma/config';

/** For the Prisma command line alone; what runs takes DATABASE_URL through its own schema of variables. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env['DATABASE_URL'] ?? '' },
});
