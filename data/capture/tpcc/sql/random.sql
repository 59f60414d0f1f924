-- Random values of TPC-C (specification 5.11, clauses 2.1.5, 2.1.6, 4.3.2).

-- Uniform integer in [low, high].
CREATE FUNCTION uniform(low integer, high integer) RETURNS integer LANGUAGE sql VOLATILE AS
$$ SELECT low + floor(random() * (high - low + 1))::integer $$;

-- NURand(A, x, y) with run constant c.
CREATE FUNCTION nurand(a integer, x integer, y integer, c integer) RETURNS integer LANGUAGE sql VOLATILE AS
$$ SELECT ((floor(random() * (a + 1))::integer | (x + floor(random() * (y - x + 1))::integer)) + c)
          % (y - x + 1) + x $$;

-- Last name: three syllables, one for each decimal digit of number (0 to 999).
CREATE FUNCTION last_name(number integer) RETURNS varchar LANGUAGE sql IMMUTABLE AS
$$ SELECT s[number / 100 + 1] || s[number / 10 % 10 + 1] || s[number % 10 + 1]
   FROM (VALUES ('{BAR,OUGHT,ABLE,PRI,PRES,ESE,ANTI,CALLY,ATION,EING}'::text[])) AS syllables (s) $$;

-- A pool of random letters and digits from which the loader cuts its strings, which is cheaper than drawing characters.
CREATE UNLOGGED TABLE letters (pool text NOT NULL);
ALTER TABLE letters ALTER pool SET STORAGE PLAIN;
INSERT INTO letters
SELECT string_agg(substr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', uniform(1, 62), 1), '')
FROM generate_series(1, 7000);

-- A random string of low to high characters from the pool, which has at least 7000 characters.
CREATE FUNCTION cut(pool text, low integer, high integer) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT substr(pool, 1 + floor(random() * 6400)::integer, low + floor(random() * (high - low + 1))::integer) $$;

-- A data string of 26 to 50 characters; every tenth holds the word ORIGINAL (clause 4.3.3.1).
CREATE FUNCTION cut_data(pool text) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT CASE WHEN random() < 0.1 THEN overlay(cut(pool, 26, 50) PLACING 'ORIGINAL' FROM uniform(1, 19))
               ELSE cut(pool, 26, 50) END $$;
