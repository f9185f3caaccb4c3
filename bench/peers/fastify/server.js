// GET /api/v1/customers as it would be written with Fastify and pg: look the key up, read a page, answer.
import cluster from "node:cluster";
import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import Fastify from "fastify";
import pg from "pg";

const KEY = { name: "key", text: "SELECT account_id, scopes FROM api_keys WHERE hash = $1 AND revoked_at IS NULL" };
const PAGE = {
  name: "page",
  text: `SELECT id, email, name, source, external_id, city, country, orders_count, revenue_total, ltv_estimate, aov,
      segment, churn_score, last_purchase_at, first_purchase_at, created_at
    FROM customers WHERE account_id = $1 ORDER BY id DESC LIMIT $2`,
};

// Numbers as numbers, not as texts.
pg.types.setTypeParser(20, Number);
pg.types.setTypeParser(1700, Number);

async function serve() {
  const pool = new pg.Pool({ max: Math.ceil(Number(process.env.CONNECTIONS) / availableParallelism()) });
  const app = Fastify();
  app.get("/ready", async () => "ok");
  app.get("/api/v1/customers", async (request, reply) => {
    const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    const hash = createHash("sha256").update(token).digest();
    const { rows: [key] } = await pool.query({ ...KEY, values: [hash] });
    if (!key) return reply.code(401).send({ error: "key_not_found" });
    if (!key.scopes.includes("read")) return reply.code(403).send({ error: "scope_required:read" });
    const limit = Math.min(Number(request.query.limit ?? 25), 100);
    const { rows } = await pool.query({ ...PAGE, values: [key.account_id, limit + 1] });
    const data = rows.slice(0, limit);
    const more = rows.length > limit;
    return {
      data,
      pagination: { limit, next_cursor: more ? data[data.length - 1].id : null, has_more: more },
      api_version: "v1",
    };
  });
  await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
}

if (cluster.isPrimary) {
  for (let i = 0; i < availableParallelism(); i++) cluster.fork();
  // A worker that cannot start takes the others along, so that the benchmark fails instead of waiting.
  cluster.on("exit", () => process.exit(1));
} else {
  await serve();
}
